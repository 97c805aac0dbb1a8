/**
 * Many small writes, few commits: writes that arrive during a commit share the next one.
 *
 * There is no timer. A free writer takes whatever is queued, so a single write is sent at once, and
 * batches grow with the load. More than one writer helps only if the store can commit in parallel;
 * elsewhere it only makes batches smaller.
 */

/** Writes several items at once; resolves when they are durable. */
export type Writer<T> = (items: readonly T[]) => Promise<void>

/** The queue is full: the store is slower than its callers. */
export class QueueFull extends Error {
  override name = 'QueueFull'
}

interface Group<T> {
  readonly items: readonly T[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export interface GroupCommitOptions<T> {
  readonly writers: readonly Writer<T>[]
  readonly maxBatchItems: number
  readonly maxQueuedItems: number
  /**
   * Returns true for an error that one item caused, such as a value that no column accepts. Then
   * each group is written separately, so a bad item fails only its own group. Without this function
   * every error counts as the store's.
   */
  readonly isItemAtFault?: (error: unknown) => boolean
}

export class GroupCommit<T> {
  readonly #options: GroupCommitOptions<T>
  readonly #idle: Writer<T>[]
  #queue: Group<T>[] = []
  #queuedItems = 0
  #isStartPlanned = false
  #isClosed = false
  #onIdle: (() => void) | null = null

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options
    this.#idle = [...options.writers]
  }

  /**
   * Writes items, all in one batch. Resolves when they are durable. Rejects with the writer's
   * error, or with QueueFull.
   */
  add(items: readonly T[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the group commit is closed'))
    if (items.length === 0) return Promise.resolve()
    // A single group may exceed the limit if nothing else is queued; otherwise it could never be
    // written.
    const queued = this.#queuedItems
    if (queued > 0 && queued + items.length > this.#options.maxQueuedItems) {
      return Promise.reject(new QueueFull(`${queued} items are waiting to be written`))
    }
    this.#queuedItems += items.length
    // Deferred, so that all writes of this event loop turn share a batch.
    if (!this.#isStartPlanned && this.#idle.length > 0) {
      this.#isStartPlanned = true
      setImmediate(() => this.#start())
    }
    return new Promise((resolve, reject) => this.#queue.push({ items, resolve, reject }))
  }

  /** Writes the queue and accepts nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#queue.length === 0 && this.#areAllIdle()) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
  }

  #start(): void {
    this.#isStartPlanned = false
    while (this.#queue.length > 0) {
      const writer = this.#idle.pop()
      if (writer === undefined) return
      void this.#work(writer) // Never rejects: every error goes to the callers.
    }
  }

  async #work(writer: Writer<T>): Promise<void> {
    while (this.#queue.length > 0) {
      await writeBatch(writer, this.#takeBatch(), this.#options.isItemAtFault)
    }
    this.#idle.push(writer)
    if (this.#areAllIdle()) this.#onIdle?.()
  }

  #areAllIdle(): boolean {
    return this.#idle.length === this.#options.writers.length
  }

  /** The oldest groups that fit one batch together; at least one, however large. */
  #takeBatch(): Group<T>[] {
    let items = 0
    let groups = 0
    for (const group of this.#queue) {
      if (groups > 0 && items + group.items.length > this.#options.maxBatchItems) break
      items += group.items.length
      groups += 1
    }
    this.#queuedItems -= items
    return this.#queue.splice(0, groups)
  }
}

async function writeBatch<T>(
  writer: Writer<T>,
  groups: readonly Group<T>[],
  isItemAtFault: GroupCommitOptions<T>['isItemAtFault'] = () => false,
): Promise<void> {
  const [first] = groups
  const items = groups.length === 1 && first ? first.items : groups.flatMap(({ items }) => items)
  try {
    await writer(items)
  } catch (error) {
    if (groups.length > 1 && isItemAtFault(error)) {
      for (const group of groups) await writeBatch(writer, [group], isItemAtFault)
    } else {
      for (const { reject } of groups) reject(error)
    }
    return
  }
  for (const { resolve } of groups) resolve()
}
