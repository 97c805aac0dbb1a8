/**
 * Claims signed requests, so that each is processed once, and stores their responses for retries.
 *
 * A shop's sale brings a thousand requests at once. Concurrent requests share the commits of their
 * claims and responses, as their events share those of the log.
 */
import { GroupCommit } from '../platform/concurrency/group-commit.ts'
import { type Db, isUnreachable } from '../platform/postgres/postgres.ts'
import {
  type Claim,
  claimAgain,
  dropRequest,
  finishRequests,
  insertRequests,
  type SignedRequest,
  type StoredAnswer,
} from './intake-store.ts'

/** Requests per commit. */
const BATCH_MAX = 100
/** The concurrency limit of the intake allows far fewer. */
const QUEUED_MAX = 10_000

export class IntakeRequests {
  readonly #db: Db
  readonly #claims: GroupCommit<SignedRequest>
  readonly #answers: GroupCommit<StoredAnswer>
  readonly #claimed = new WeakSet<SignedRequest>()

  constructor(db: Db) {
    this.#db = db
    this.#claims = sharedCommits(async (requests) => {
      for (const request of await insertRequests(db, requests)) this.#claimed.add(request)
    })
    this.#answers = sharedCommits((answers) => finishRequests(db, answers))
  }

  /** Claims a request for this process, or returns the state of the request that it repeats. */
  async claim(request: SignedRequest): Promise<Claim> {
    await this.#claims.add([request])
    return this.#claimed.has(request) ? { kind: 'claimed' } : claimAgain(this.#db, request)
  }

  finish(answer: StoredAnswer): Promise<void> {
    return this.#answers.add([answer])
  }

  drop(request: SignedRequest): Promise<void> {
    return dropRequest(this.#db, request)
  }
}

/** Two writers, so that one slow commit does not delay every merchant. */
function sharedCommits<T>(write: (items: readonly T[]) => Promise<void>): GroupCommit<T> {
  return new GroupCommit<T>({
    writers: [write, write],
    maxBatchItems: BATCH_MAX,
    maxQueuedItems: QUEUED_MAX,
    isItemAtFault: (error) => !isUnreachable(error),
  })
}
