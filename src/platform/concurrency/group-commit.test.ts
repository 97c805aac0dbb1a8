import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import { GroupCommit, QueueFull, type Writer } from './group-commit.ts'

class BadItem extends Error {}

const defaults = {
  maxBatchItems: 500,
  maxQueuedItems: 10_000,
  isItemAtFault: (error: unknown) => error instanceof BadItem,
}

/** A store whose writes end on command. */
function makeStore() {
  const batches: number[][] = []
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = []
  const writer: Writer<number> = (items) => {
    batches.push([...items])
    return new Promise((resolve, reject) => ends.push({ resolve, reject }))
  }
  return { batches, ends, writer }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a single write is sent at once, and writes that arrive meanwhile share the next batch', async () => {
  const { batches, ends, writer } = makeStore()
  const commits = new GroupCommit({ ...defaults, writers: [writer] })
  const first = commits.add([1])
  await nextTurn()
  assert.deepEqual(batches, [[1]])
  const rest = [2, 3, 4].map((item) => commits.add([item]))
  await nextTurn()
  assert.deepEqual(batches, [[1]])
  ends[0]?.resolve()
  await first
  await nextTurn()
  assert.deepEqual(batches, [[1], [2, 3, 4]])
  ends[1]?.resolve()
  await Promise.all(rest)
})

test('writes of one event loop turn share a batch', async () => {
  const { batches, ends, writer } = makeStore()
  const commits = new GroupCommit({ ...defaults, writers: [writer, writer] })
  const adding = [1, 2, 3].map((item) => commits.add([item]))
  await nextTurn()
  assert.deepEqual(batches, [[1, 2, 3]])
  ends[0]?.resolve()
  await Promise.all(adding)
})

test('two writers work at the same time', async () => {
  const { batches, ends, writer } = makeStore()
  const commits = new GroupCommit({ ...defaults, writers: [writer, writer] })
  const adding = [commits.add([1])]
  await nextTurn()
  adding.push(commits.add([2]))
  await nextTurn()
  assert.deepEqual(batches, [[1], [2]])
  for (const { resolve } of ends) resolve()
  await Promise.all(adding)
})

test('a batch never exceeds its limit, and no group is split or lost', async () => {
  const groups = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(groups, fc.integer({ min: 1, max: 10 }), async (sizes, maxBatchItems) => {
      const written: number[][] = []
      const writer: Writer<number> = async (items) => {
        written.push([...items])
        await nextTurn()
      }
      const commits = new GroupCommit({ ...defaults, maxBatchItems, writers: [writer] })
      await Promise.all(sizes.map((size, group) => commits.add(Array(size).fill(group))))
      assert.deepEqual(
        written.flat(),
        sizes.flatMap((size, group) => Array(size).fill(group)),
      )
      for (const batch of written) {
        assert(batch.length <= maxBatchItems || new Set(batch).size === 1)
      }
      for (let index = 1; index < written.length; index += 1) {
        assert.notEqual(written[index - 1]?.at(-1), written[index]?.[0], 'a group was split')
      }
    }),
    { numRuns: 50 },
  )
})

test('an error of the store fails the whole batch, and the next batch is tried', async () => {
  const { ends, writer } = makeStore()
  const commits = new GroupCommit({ ...defaults, writers: [writer] })
  const failing = [1, 2].map((item) => commits.add([item]))
  await nextTurn()
  ends[0]?.reject(new Error('away'))
  for (const adding of failing) await assert.rejects(adding, /away/)
  const next = commits.add([3])
  await nextTurn()
  ends[1]?.resolve()
  await next
})

test('an item that causes an error fails only its own group', async () => {
  const stored: number[] = []
  const writer: Writer<number> = async (items) => {
    if (items.includes(13)) throw new BadItem('thirteen')
    stored.push(...items)
  }
  const commits = new GroupCommit({ ...defaults, writers: [writer] })
  const groups = [[1, 2], [3, 13], [4]]
  const results = await Promise.allSettled(groups.map((group) => commits.add(group)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(stored, [1, 2, 4])
})

test("writes beyond the queue's limit are refused at once, and later ones are accepted again", async () => {
  const { ends, writer } = makeStore()
  const commits = new GroupCommit({ ...defaults, maxQueuedItems: 3, writers: [writer] })
  const writing = commits.add([1])
  await nextTurn()
  const waiting = commits.add([2, 3])
  await assert.rejects(commits.add([4, 5]), new QueueFull('2 items are waiting to be written'))
  const fits = commits.add([6])
  ends[0]?.resolve()
  await writing
  await nextTurn()
  ends[1]?.resolve()
  await Promise.all([waiting, fits])
  const full = commits.add([7, 8, 9])
  await nextTurn()
  ends[2]?.resolve()
  await full
})

test('closing writes the queue and refuses new writes', async () => {
  const stored: number[] = []
  const writer: Writer<number> = async (items) => {
    await nextTurn()
    stored.push(...items)
  }
  const commits = new GroupCommit({ ...defaults, maxBatchItems: 2, writers: [writer] })
  const adding = Promise.all([1, 2, 3, 4, 5].map((item) => commits.add([item])))
  await commits.close()
  assert.deepEqual(stored, [1, 2, 3, 4, 5])
  await adding
  await assert.rejects(commits.add([6]), /closed/)
})
