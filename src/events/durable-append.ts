/**
 * Makes events durable in the log or, failing that, in the local spool.
 *
 * A reader waits for neither. An append that the log has not answered in time goes to the spool,
 * and the caller is answered as soon as one of the two has it on disk. Both writes carry the same
 * ids, so the log keeps one of them (I2, I3). A drainer moves the spool to the log once that
 * accepts events again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Spool, SpoolFull } from '../platform/spool/spool.ts'
import type { LogEvent } from './event.ts'
import { eventFromJson, eventToJson } from './event-json.ts'
import { type EventLog, EventRefused, LogUnavailable } from './event-log.ts'

/** A reader waits for a redirect: half of its total budget (I5: 50 ms). */
export const REDIRECT_TIMEOUT_MS = 25
/** Nobody watches a beacon, and a log that answers within this needs no second write. */
export const BEACON_TIMEOUT_MS = 250
/** A caller that reports an order or a payment can wait longer than a reader who clicked. */
export const REPORT_TIMEOUT_MS = 5_000

/** Spooled events appear in figures within 5 s of the log's return; this is the drainer's share. */
const DRAIN_INTERVAL_MS = 250
/** Every 40 intervals (10 s) the drainer looks for dead processes' spools. */
const ADOPT_ROUNDS = 40
/**
 * After this long a failure says nothing about the log's present state. A spooled event retries the
 * log several times a second, but if the spool refused too, nothing retries it, and callers that
 * check first would see it as down forever.
 */
const DOUBT_MS = 10_000
/** At the end the spool has this long to drain; the rest stays for the next start. */
const LAST_DRAIN_MS = 2_000

interface AppendCounters {
  /** Events that went to the spool because the log was slow or down. */
  spooled(events: number): void
  /** Spooled events that are now in the log. */
  drained(events: number): void
  /** Events that the log will never accept, set aside in the spool's directory. */
  refused(events: number): void
  /** Events that neither log nor spool accepted. */
  unavailable(events: number): void
}

export interface DurableAppendOptions {
  readonly log: EventLog
  readonly spool: Spool
  readonly counters: AppendCounters
  /** False if this process must accept nothing more: another process has its node number. */
  readonly isAccepting: () => boolean
  /** The log went down, with the error that showed it, or accepts events again. */
  readonly onLogState: (state: { isUnreachable: boolean; error?: unknown }) => void
  /** Errors that no caller waits for. */
  readonly onProblem: (error: unknown) => void
  /** A dead process's spool is now in the log; `owner` is its record of itself. */
  readonly onAdoptedDrained: (owner: string) => Promise<void>
  /** Only tests set another value. */
  readonly doubtMs?: number
}

export class DurableAppend {
  readonly #options: DurableAppendOptions
  readonly #stopping = new AbortController()
  readonly #cutoff = new AbortController()
  readonly #drainer: Promise<void>
  /** Set by a failed append until the log accepts an event again. */
  #isLogUnreachable = false
  #failedMs = Number.NEGATIVE_INFINITY
  #closing: Promise<void> | null = null
  readonly #appending = new Set<Promise<void>>()

  constructor(options: DurableAppendOptions) {
    this.#options = options
    this.#drainer = this.#drainUntilStopped()
  }

  /**
   * Resolves when the events are durable, in the log or in the spool. Rejects with EventRefused if
   * the log will never accept them, and with LogUnavailable if neither accepted them; then the same
   * events may be appended again.
   */
  append = async (
    events: readonly LogEvent[],
    { timeoutMs }: { timeoutMs: number },
  ): Promise<void> => {
    if (this.#closing !== null) throw new LogUnavailable('the process is stopping')
    if (!this.#options.isAccepting()) throw new LogUnavailable('another process has this number')
    if (events.length === 0) return
    // The log is known to be down, so do not wait for it; the drainer notices when it is back.
    const isPointless = this.#isLogUnreachable && !this.#options.spool.isEmpty()
    const appending = isPointless
      ? this.#spool(events, { wasLogAsked: false })
      : this.#appendOrSpool(events, timeoutMs)
    this.#appending.add(appending)
    try {
      await appending
    } finally {
      this.#appending.delete(appending)
    }
  }

  /** Whether the log has every event whose append has resolved. */
  isSpoolEmpty = (): boolean => this.#options.spool.isEmpty()

  /** Whether the last operation on the log failed, just now. */
  isLogUnreachable = (): boolean => {
    const { doubtMs = DOUBT_MS } = this.#options
    return this.#isLogUnreachable && performance.now() - this.#failedMs < doubtMs
  }

  /**
   * Accepts no more events and drains the spool if the log answers. `lastWord` follows all of them.
   * What cannot be drained stays in the spool, together with that last message.
   */
  close(lastWord: LogEvent | null = null): Promise<void> {
    this.#closing ??= this.#close(lastWord)
    return this.#closing
  }

  async #close(lastWord: LogEvent | null): Promise<void> {
    const cutoff = setTimeout(() => this.#cutoff.abort(new Error('no time left')), LAST_DRAIN_MS)
    await Promise.allSettled(this.#appending)
    this.#stopping.abort()
    await this.#drainer
    if (lastWord !== null) await this.#say(lastWord).catch(this.#options.onProblem)
    clearTimeout(cutoff)
  }

  /** The process that drains a left-behind spool also appends its last message. */
  async #say(lastWord: LogEvent): Promise<void> {
    const { log, spool } = this.#options
    if (!spool.isEmpty()) return
    try {
      await beforeAbort(this.#cutoff.signal, () => log.append([lastWord]))
    } catch {
      // An empty spool would be removed, and nobody would append the last message.
      await this.#spool([lastWord], { wasLogAsked: true })
    }
  }

  #appendOrSpool(events: readonly LogEvent[], timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let isDecided = false
      const spool = () => {
        if (isDecided) return
        isDecided = true
        this.#spool(events, { wasLogAsked: true }).then(resolve, reject)
      }
      // An answer that arrived while this thread was busy is read before the spool is used.
      const timer = setTimeout(() => setImmediate(spool), timeoutMs)
      this.#options.log.append(events).then(
        () => {
          clearTimeout(timer)
          isDecided = true
          this.#logAnswered()
          resolve()
        },
        (error: unknown) => {
          clearTimeout(timer)
          if (error instanceof EventRefused) {
            isDecided = true
            return reject(error)
          }
          this.#logFailed(error)
          spool()
        },
      )
    })
  }

  async #spool(
    events: readonly LogEvent[],
    { wasLogAsked }: { wasLogAsked: boolean },
  ): Promise<void> {
    const { spool, counters } = this.#options
    try {
      await spool.append(events.map(toRecord))
      counters.spooled(events.length)
    } catch (error) {
      counters.unavailable(events.length)
      // A slow log may still accept them, and a failed disk may hold them.
      const isUncertain = wasLogAsked || !(error instanceof SpoolFull)
      const message = 'neither the log nor the spool took the events'
      throw new LogUnavailable(message, { cause: error, isUncertain })
    }
  }

  #logAnswered(): void {
    if (!this.#isLogUnreachable) return
    this.#isLogUnreachable = false
    this.#options.onLogState({ isUnreachable: false })
  }

  #logFailed(error: unknown): void {
    this.#failedMs = performance.now()
    if (this.#isLogUnreachable) return
    this.#isLogUnreachable = true
    this.#options.onLogState({ isUnreachable: true, error })
  }

  async #drainUntilStopped(): Promise<void> {
    const { signal } = this.#stopping
    for (let round = 1; !signal.aborted; round += 1) {
      await this.#drain()
      await sleep(DRAIN_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined)
      if (round % ADOPT_ROUNDS === 0) await this.#adopt()
    }
    await this.#drain()
  }

  async #adopt(): Promise<void> {
    await this.#options.spool.adoptAbandoned().catch(this.#options.onProblem)
  }

  async #drain(): Promise<void> {
    const { spool, onAdoptedDrained, onProblem } = this.#options
    if (!spool.hasWork()) return
    const write = (records: readonly Buffer[]) => this.#writeToLog(records)
    try {
      await spool.drain({ write, onDrained: onAdoptedDrained })
    } catch (error) {
      // A log that is down was reported when it went down; every other error is new.
      if (!this.#isLogUnreachable && !this.#cutoff.signal.aborted) onProblem(error)
    }
  }

  async #writeToLog(records: readonly Buffer[]): Promise<void> {
    const events: LogEvent[] = []
    const refused: RefusedRecord[] = []
    for (const record of records) {
      try {
        events.push(eventFromJson(record.toString()))
      } catch (error) {
        refused.push({ record, error })
      }
    }
    refused.push(...(await this.#appendDrained(events)))
    // Only once the log has all others: until then the same records return again and again.
    if (refused.length > 0) await this.#setAside(refused)
  }

  /** Returns what the log will never accept; throws while it does not accept the others. */
  async #appendDrained(events: readonly LogEvent[]): Promise<RefusedRecord[]> {
    try {
      await beforeAbort(this.#cutoff.signal, () => this.#options.log.append(events))
      this.#logAnswered()
      this.#options.counters.drained(events.length)
      return []
    } catch (error) {
      if (!(error instanceof EventRefused)) {
        if (!this.#cutoff.signal.aborted) this.#logFailed(error)
        throw error
      }
      if (events.length === 1) return events.map((event) => ({ record: toRecord(event), error }))
      // One of them is invalid; separately, the others pass.
      return (await Promise.all(events.map((event) => this.#appendDrained([event])))).flat()
    }
  }

  async #setAside(refused: readonly RefusedRecord[]): Promise<void> {
    const { spool, counters, onProblem } = this.#options
    await spool.setAside(refused.map(({ record }) => record))
    counters.refused(refused.length)
    for (const { error } of refused) onProblem(error)
  }
}

/** A spooled record that can never be in the log, with the reason. */
interface RefusedRecord {
  readonly record: Buffer
  readonly error: unknown
}

function toRecord(event: LogEvent): Buffer {
  return Buffer.from(eventToJson(event))
}

/** The result of `work`, unless the signal comes first; then `work` continues unobserved. */
async function beforeAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work(), promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
