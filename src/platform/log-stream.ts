/**
 * Where log lines go: a file descriptor whose other end may be full, frozen or gone. Neither
 * readers nor the end of the process wait for it.
 *
 * pino's own stream takes an error of the disk for the program's end, and then tries that line for
 * ever on the only thread: a full disk for logs left a server that answered nothing and could not
 * be told to stop.
 */
import { write, writeSync } from 'node:fs'

/** What is kept for a log that takes nothing just now: minutes of a busy hour. */
const WAITING_MAX = 1024 * 1024
const RETRY_MS = 250
/** A write that takes so long is nobody's reading: more of them would hold the process. */
const FROZEN_MS = 1_000

export interface LogStreamOptions {
  readonly fd: number
  /** The log takes lines again; so many did not fit into what was kept meanwhile. */
  readonly onLost: (lines: number) => void
}

export class LogStream {
  readonly #options: LogStreamOptions
  #waiting: string[] = []
  #waitingLength = 0
  #lost = 0
  #rest: Buffer = Buffer.alloc(0) // of what is being written
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
    // All lines of a turn at once; and none is on its way when the program ends in this turn.
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
      if (this.#rest.length === 0) this.#tellLost()
      this.#writeNext()
    })
  }

  /** False when there is nothing to write. */
  #takeWaiting(): boolean {
    if (this.#rest.length === 0) {
      this.#rest = Buffer.from(this.#waiting.join(''))
      this.#waiting = []
      this.#waitingLength = 0
    }
    return this.#rest.length > 0
  }

  #tellLost(): void {
    const lost = this.#lost
    this.#lost = 0
    if (lost > 0) this.#options.onLost(lost)
  }

  /** What was logged just before the end; what is on its way gets there by itself. */
  #writeLast(): void {
    if (this.#isBusy && performance.now() - this.#askedAtMs > FROZEN_MS) return
    const text = this.#waiting.join('')
    try {
      if (text !== '') writeSync(this.#options.fd, text)
    } catch {
      // There is nobody left to tell.
    }
  }
}
