/**
 * Writes log lines to a file descriptor whose other end may be full, frozen or closed. Neither
 * readers nor the end of the process wait for it.
 *
 * pino's own stream treats a disk error as fatal and then retries that line forever on the main
 * thread: with a full disk the server answered nothing and could not be stopped.
 */
import { write, writeSync } from 'node:fs'

/** How much is queued for a log that accepts nothing: minutes of a busy hour. */
const WAITING_MAX = 1024 * 1024
const RETRY_MS = 250
/** A write that takes this long has no reader; more of them would block the process. */
const FROZEN_MS = 1_000

export interface LogStreamOptions {
  readonly fd: number
  /** The log accepts lines again; this many did not fit into the queue. */
  readonly onLost: (lines: number) => void
}

export class LogStream {
  readonly #options: LogStreamOptions
  #waiting: string[] = []
  #waitingLength = 0
  #lost = 0
  #rest: Buffer = Buffer.alloc(0) // The unwritten part of the current write.
  #isBusy = false
  #askedAtMs = 0
  #isLastAwaited = false

  constructor(options: LogStreamOptions) {
    this.#options = options
  }

  write(line: string): void {
    if (this.#waitingLength + line.length > WAITING_MAX) {
      this.#lost += 1
      return
    }
    this.#waiting.push(line)
    this.#waitingLength += line.length
    if (this.#isBusy) return
    if (!this.#isLastAwaited) process.on('exit', () => this.#writeLast())
    this.#isLastAwaited = true
    // Deferred, so all lines of an event loop turn are written together, and none is in flight if
    // the program ends in this turn.
    this.#isBusy = true
    this.#askedAtMs = performance.now()
    setImmediate(() => this.#writeNext())
  }

  #writeNext(): void {
    this.#isBusy = this.#takeWaiting()
    if (!this.#isBusy) return
    this.#askedAtMs = performance.now()
    write(this.#options.fd, this.#rest, (error, bytes) => {
      if (error !== null) {
        setTimeout(() => this.#writeNext(), RETRY_MS).unref()
        return
      }
      this.#rest = this.#rest.subarray(bytes)
      if (this.#rest.length === 0) this.#reportLost()
      this.#writeNext()
    })
  }

  /** False if there is nothing to write. */
  #takeWaiting(): boolean {
    if (this.#rest.length === 0) {
      this.#rest = Buffer.from(this.#waiting.join(''))
      this.#waiting = []
      this.#waitingLength = 0
    }
    return this.#rest.length > 0
  }

  #reportLost(): void {
    const lost = this.#lost
    this.#lost = 0
    if (lost > 0) this.#options.onLost(lost)
  }

  /** Writes the last lines at exit; a write in flight completes by itself. */
  #writeLast(): void {
    if (this.#isBusy && performance.now() - this.#askedAtMs > FROZEN_MS) return
    const text = this.#waiting.join('')
    try {
      if (text !== '') writeSync(this.#options.fd, text)
    } catch {
      // Nobody is left to report this to.
    }
  }
}
