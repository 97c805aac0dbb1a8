/**
 * Signed requests on their way through the intake: claimed, so that each is done once, and their
 * answers kept for retries.
 *
 * A shop's sale brings a thousand of them in one moment. Those that come together share the
 * commits of their claims and of their answers, as their events share those of the log.
 */
import { GroupCommit } from '../platform/group-commit.ts'
import { type Db, isUnreachable } from '../platform/postgres.ts'
import {
  type Claim,
  claimAgain,
  dropRequest,
  finishRequests,
  insertRequests,
  type KeptAnswer,
  type SignedRequest,
} from './intake-store.ts'

/** Requests of one commit. */
const BATCH_MAX = 100
/** The turns of the intake allow far fewer. */
const QUEUED_MAX = 10_000

export class IntakeRequests {
  readonly #db: Db
  readonly #claims: GroupCommit<SignedRequest>
  readonly #answers: GroupCommit<KeptAnswer>
  readonly #claimed = new WeakSet<SignedRequest>()

  constructor(db: Db) {
    this.#db = db
    this.#claims = sharedCommits(async (requests) => {
      for (const request of await insertRequests(db, requests)) this.#claimed.add(request)
    })
    this.#answers = sharedCommits((answers) => finishRequests(db, answers))
  }

  /** Claims a request for this process, or says what became of the one it repeats. */
  async claim(request: SignedRequest): Promise<Claim> {
    await this.#claims.add([request])
    return this.#claimed.has(request) ? { kind: 'claimed' } : claimAgain(this.#db, request)
  }

  finish(answer: KeptAnswer): Promise<void> {
    return this.#answers.add([answer])
  }

  drop(request: SignedRequest): Promise<void> {
    return dropRequest(this.#db, request)
  }
}

/** By two writers: a database that owes one of them its answer keeps no other merchant waiting. */
function sharedCommits<T>(write: (items: readonly T[]) => Promise<void>): GroupCommit<T> {
  return new GroupCommit<T>({
    writers: [write, write],
    maxBatchItems: BATCH_MAX,
    maxQueuedItems: QUEUED_MAX,
    isItemAtFault: (error) => !isUnreachable(error),
  })
}
