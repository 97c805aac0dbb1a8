/**
 * Keeps a node's lease book and PostgreSQL in step: one statement a second, sooner when a lease
 * runs low. At the end the node says its last word, so that its leases are closed at once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../platform/postgres.ts'
import { openAccounts } from './budget-account.ts'
import type { LeaseBook } from './lease.ts'
import { type GrantedLease, type NodeIdentity, requestLeases } from './lease-store.ts'

const TICK_MS = 1_000
/** How soon a lease that ran low is looked for: a statement more, ten times a second at most. */
const THIRST_MS = 100

export interface LeaseLoopOptions {
  readonly book: LeaseBook
  readonly db: Db
  readonly identity: NodeIdentity
  readonly now: () => number
  /** Appends the node's last word to the money lane. */
  readonly announceClose: () => Promise<void>
  /** Told of each answer; for pacing. */
  readonly onGrants?: (grants: readonly GrantedLease[]) => void
  readonly onError: (error: unknown) => void
}

export interface LeaseLoop {
  /** Spends nothing more and announces it. */
  close(): Promise<void>
}

export function startLeaseLoop(options: LeaseLoopOptions): LeaseLoop {
  const { book, now, announceClose, onError } = options
  const stopping = new AbortController()
  const running = (async () => {
    for (let requestNo = 1; !stopping.signal.aborted; requestNo += 1) {
      try {
        if (!(await exchange(options, requestNo))) break
      } catch (error) {
        onError(error) // Leases in hand run on until they expire; the next tick asks again.
      }
      await untilDue(book, stopping.signal)
    }
  })()
  return {
    close: async () => {
      stopping.abort()
      await running
      book.stopSpending(now())
      await announceClose()
    },
  }
}

/** One request and its answer; false when this node was declared dead and must stop spending. */
async function exchange(options: LeaseLoopOptions, requestNo: number): Promise<boolean> {
  const { book, db, identity, now } = options
  const requests = book.prepare(requestNo, now())
  if (requests.length > 0) await openAccounts(db, requests)
  const grants = await requestLeases(db, identity, { requestNo, requests })
  if (grants === null) {
    book.stopSpending(now())
    options.onError(new Error('this node was declared dead: it wins no capped campaign any more'))
    return false
  }
  book.apply(requestNo, { requests, grants }, now())
  options.onGrants?.(grants)
  return true
}

async function untilDue(book: LeaseBook, signal: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < TICK_MS && !signal.aborted; waitedMs += THIRST_MS) {
    await sleep(THIRST_MS, undefined, { signal }).catch(() => undefined)
    if (book.takeThirst()) return
  }
}
