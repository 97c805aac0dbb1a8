/**
 * Keeps a node's leases up to date. Once a second it reports spending and requests the coming need,
 * in one statement for all campaigns; once a minute it updates each campaign's pacing.
 *
 * The loop only exchanges messages. The decisions are in lease-terms.ts and lease.ts (requests and
 * spending), lease-store.ts (grants) and pacing.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CoalescedTask } from '../platform/concurrency/coalesced-task.ts'
import { TimedOut, withTimeout } from '../platform/concurrency/timeout.ts'
import type { NodeIdentity } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { ClockSteps } from '../platform/time/clock-steps.ts'
import { openAccounts } from './budget-account.ts'
import type { LeaseBook } from './lease.ts'
import { type GrantedLease, isAnyLastWordUnread, requestLeases } from './lease-store.ts'
import { dayNumberOf, LEASE_SKEW_MS, type LeaseRequest } from './lease-terms.ts'

const TICK_MS = 1_000
/** A lease that runs low requests more early, but not more often than this. */
const EARLY_TICK_MS = 250
/** Without requests a node still sends this heartbeat, see lease-store.ts. */
const QUIET_TICKS = 2
/** A later answer is ignored; the statement's number makes it harmless. */
const ANSWER_MS = 5_000
/** How often a starting node checks whether the fold has read the final records of ended nodes. */
const FREED_POLL_MS = 50
/**
 * Statements that timed out but may still be running: a bound, so that they do not fill the pool.
 */
const STUCK_MAX = 2

export interface LeaseLoopOptions {
  readonly book: LeaseBook
  readonly db: Db
  readonly identity: NodeIdentity
  /** Wall clock, milliseconds: its UTC day is the day whose budget is spent. */
  readonly now: () => number
  /** Monotonic clock, milliseconds; reveals a jump of the wall clock. */
  readonly monotonic?: () => number
  /** Called with each answer; for pacing. */
  readonly onGrants?: (grants: readonly GrantedLease[]) => void
  readonly onError: (error: unknown) => void
}

/** Starts requests at once; runs until closed. */
export class LeaseLoop {
  readonly #options: LeaseLoopOptions
  readonly #monotonic: () => number
  readonly #clockSteps: ClockSteps
  /** Settles with the first answer, or its error: from then on capped campaigns can be funded. */
  readonly firstAnswer: Promise<void>
  readonly #openedAccounts = new Set<string>()
  #openedDay = 0
  #timer: NodeJS.Timeout | null = null
  readonly #requests = new CoalescedTask(() => this.#requestOrReport())
  #requestNo = 0
  #stuck = 0
  #isClosed = false
  #quietTicks = 0
  #askedAtMs = 0

  constructor(options: LeaseLoopOptions) {
    this.#options = options
    this.#monotonic = options.monotonic ?? (() => performance.now())
    this.#clockSteps = new ClockSteps(options.now, this.#monotonic)
    options.book.onLow(() => this.wake())
    this.#tick()
    this.firstAnswer = this.#requests.ended()
  }

  /**
   * Sends a request soon instead of in the next second: new campaigns, changed budgets, a lease
   * without funds.
   */
  wake(): void {
    if (this.#isClosed) return
    const sinceMs = this.#monotonic() - this.#askedAtMs
    this.#schedule(Math.max(0, EARLY_TICK_MS - sinceMs))
  }

  /**
   * Requests the price of a waiting click that this node's lease cannot pay: the database holds
   * small budgets for any node. Resolves when `reserve` may be retried, at once when a request
   * would have no effect; never rejects.
   */
  async fund(campaignId: number, amountMicros: number): Promise<void> {
    const { book, now } = this.#options
    if (this.#isClosed || !book.want(campaignId, amountMicros, now())) return
    await this.#requests.ask()
  }

  /**
   * Resolves after the leases of ended nodes were released and requested, or after `timeoutMs`;
   * never rejects. A process that replaces another one finds every budget in that one's leases.
   */
  async whenFreed(timeoutMs: number): Promise<void> {
    const { db, book, onError } = this.#options
    const untilMs = this.#monotonic() + timeoutMs
    try {
      while (this.#monotonic() < untilMs && (await isAnyLastWordUnread(db))) {
        await sleep(FREED_POLL_MS)
      }
    } catch (error) {
      onError(error)
    }
    book.retryEmpty()
    await this.#requests.ask()
  }

  /**
   * Stops requests and spending. Append the node's final record (`leaseCloseBody`) to the money
   * lane after this, when every click reserved before it is in the log.
   */
  async close(): Promise<void> {
    this.#stop()
    await this.#requests.ended()
  }

  #stop(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#options.book.stopSpending(this.#options.now())
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#tick(), delayMs)
    this.#timer.unref()
  }

  #tick(): void {
    this.#schedule(TICK_MS)
    this.#checkClock()
    void this.#requests.ask()
  }

  async #requestOrReport(): Promise<void> {
    if (this.#isClosed || this.#stuck >= STUCK_MAX) return
    try {
      await this.#ask()
    } catch (error) {
      this.#options.onError(error)
    }
  }

  async #ask(): Promise<void> {
    const { db, identity, book, now, onGrants, onError } = this.#options
    this.#requestNo += 1
    this.#askedAtMs = this.#monotonic()
    const requestNo = this.#requestNo
    const requests = book.prepare(requestNo, now())
    this.#quietTicks = requests.length === 0 ? this.#quietTicks + 1 : 0
    if (requests.length === 0 && this.#quietTicks < QUIET_TICKS) return
    this.#quietTicks = 0
    const answer = await this.#inTime(
      this.#openMissing(requests).then(() => requestLeases(db, identity, { requestNo, requests })),
    )
    if (this.#isClosed) return
    if (answer === null) {
      this.#stop()
      onError(new Error('this node was declared dead: it no longer funds capped campaigns'))
      return
    }
    book.apply(requestNo, { requests, ...answer }, now())
    onGrants?.(answer.grants)
  }

  /** Accounts are opened once per campaign and day; they are never removed. */
  async #openMissing(requests: readonly LeaseRequest[]): Promise<void> {
    const today = dayNumberOf(this.#options.now())
    if (today !== this.#openedDay) this.#openedAccounts.clear()
    this.#openedDay = today
    const key = ({ campaignId, day }: LeaseRequest) => `${campaignId} ${day}`
    const missing = requests.filter(
      (request) => !request.isFinal && !this.#openedAccounts.has(key(request)),
    )
    if (missing.length === 0) return
    await openAccounts(this.#options.db, missing)
    for (const request of missing) this.#openedAccounts.add(key(request))
  }

  async #inTime<T>(answer: Promise<T>): Promise<T> {
    try {
      return await withTimeout(answer, ANSWER_MS)
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error
      this.#stuck += 1
      const ended = () => {
        this.#stuck -= 1
      }
      answer.then(ended, ended)
      throw new Error(`no answer about budget leases within ${ANSWER_MS} ms`)
    }
  }

  /** A wall clock that was set back would extend the leases. */
  #checkClock(): void {
    const { now, book } = this.#options
    if (Math.abs(this.#clockSteps.take()) > LEASE_SKEW_MS) book.stopSpending(now())
  }
}
