/**
 * Many small writes, few commits: whoever arrives while a commit is under way shares the next.
 *
 * No timer: a free writer takes whatever has gathered, so a lone write goes at once and the
 * batches grow by themselves as the load does. A writer is one connection; two of them keep
 * the database busy while the other batch is being made, and more only make batches smaller.
 */

/** One write of several items; resolves when they are durable. */
export type Writer<T> = (items: readonly T[]) => Promise<void>

export interface GroupCommit<T> {
  /**
   * Writes items, all in one batch. Resolves when they are durable, rejects with the writer's
   * error, or with QueueFull when too much is waiting already.
   */
  add(items: readonly T[]): Promise<void>
  /** How many items wait for a writer. */
  queuedItems(): number
  /** Writes what is queued and takes nothing more. */
  close(): Promise<void>
}

/** More is waiting than may wait: the store is slower than its callers. */
export class QueueFull extends Error {
  override name = 'QueueFull'
}

interface Group<T> {
  readonly items: readonly T[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * `isItemAtFault` tells an error that some item of a batch caused (a value no column takes) from
 * one of the store: after such an error each group is written on its own, so that a bad item
 * fails its own group and nobody else's.
 */
export function makeGroupCommit<T>(options: {
  writers: readonly Writer<T>[]
  maxBatchItems: number
  maxQueuedItems: number
  isItemAtFault: (error: unknown) => boolean
}): GroupCommit<T> {
  const { maxBatchItems, maxQueuedItems, isItemAtFault } = options
  const idle: Writer<T>[] = [...options.writers]
  let queue: Group<T>[] = []
  let queued = 0
  let isStartPlanned = false
  let isClosed = false
  let whenDrained: (() => void) | null = null

  /** The oldest groups that fit one batch together; at least one, however large. */
  const takeBatch = (): Group<T>[] => {
    let items = 0
    let groups = 0
    for (const group of queue) {
      if (groups > 0 && items + group.items.length > maxBatchItems) break
      items += group.items.length
      groups += 1
    }
    queued -= items
    if (groups < queue.length) return queue.splice(0, groups)
    const all = queue
    queue = []
    return all
  }

  const work = async (writer: Writer<T>): Promise<void> => {
    while (queue.length > 0) await writeBatch(writer, takeBatch(), isItemAtFault)
    idle.push(writer)
    if (idle.length === options.writers.length) whenDrained?.()
  }

  const start = () => {
    isStartPlanned = false
    while (queue.length > 0) {
      const writer = idle.pop()
      if (writer === undefined) return
      void work(writer) // never rejects: writeBatch hands every error to the callers
    }
  }

  return {
    add(items) {
      if (isClosed) return Promise.reject(new Error('the group commit is closed'))
      if (items.length === 0) return Promise.resolve()
      // A single group may exceed the bound when nothing else waits: it must be able to pass.
      if (queued > 0 && queued + items.length > maxQueuedItems) {
        return Promise.reject(new QueueFull(`${queued} items are waiting to be written`))
      }
      queued += items.length
      // All that this turn of the event loop brings goes together, hence not at once.
      if (!isStartPlanned && idle.length > 0) {
        isStartPlanned = true
        setImmediate(start)
      }
      return new Promise((resolve, reject) => queue.push({ items, resolve, reject }))
    },
    queuedItems: () => queued,
    async close() {
      isClosed = true
      if (queue.length === 0 && idle.length === options.writers.length) return
      await new Promise<void>((resolve) => {
        whenDrained = resolve
      })
    },
  }
}

async function writeBatch<T>(
  writer: Writer<T>,
  groups: readonly Group<T>[],
  isItemAtFault: (error: unknown) => boolean,
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
