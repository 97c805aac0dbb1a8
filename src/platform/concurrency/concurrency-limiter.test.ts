import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ApiError } from '../errors/api-errors.ts'
import { ConcurrencyLimiter, FairLimiter, unlessStarted } from './concurrency-limiter.ts'

test('at most N calls run at once, in order of arrival, and a failure frees its slot', async () => {
  const limiter = new ConcurrencyLimiter(2)
  const started: number[] = []
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const all = ends.map(({ promise }, index) =>
    limiter.run(async () => {
      started.push(index)
      await promise
      return index
    }),
  )
  const outcomes = Promise.allSettled(all)
  const endsOf = async (index: number, error?: Error) => {
    if (error === undefined) ends[index]?.resolve()
    else ends[index]?.reject(error)
    await all[index]?.catch(() => undefined)
  }
  assert.deepEqual(started, [0, 1])
  await endsOf(1, new Error('broken'))
  assert.deepEqual(started, [0, 1, 2])
  await endsOf(0)
  await endsOf(2)
  assert.deepEqual(started, [0, 1, 2, 3, 4])
  await endsOf(3)
  await endsOf(4)
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  )
  assert.equal(await limiter.run(async () => 'again'), 'again')
})

test("a call that waited too long for a slot gets a 503 and takes nobody's slot", async () => {
  const limiter = new ConcurrencyLimiter(1, { timeoutMs: 20 })
  const first = Promise.withResolvers<void>()
  const running = limiter.run(() => first.promise)
  await assert.rejects(
    limiter.run(() => assert.fail('its turn never came')),
    { status: 503, message: /^Too many such requests wait/, headers: { 'retry-after': '1' } },
  )
  const next = limiter.run(async () => 'done')
  first.resolve()
  assert.equal(await next, 'done')
  await running
})

test('at most N calls run at once and one per owner, so a busy owner does not block others', async () => {
  const limiter = new FairLimiter(2)
  const running: number[] = []
  const ends: (() => void)[] = []
  const run = (owner: number) =>
    limiter.run(owner, async () => {
      running.push(owner)
      const end = Promise.withResolvers<void>()
      ends.push(end.resolve)
      await end.promise
      running.splice(running.indexOf(owner), 1)
    })
  const all = [...Array.from({ length: 100 }, () => run(1)), run(2), run(3)]
  const endOne = async () => {
    ends.shift()?.()
    await turn()
  }

  await turn()
  assert.deepEqual(running, [1, 2])
  await endOne()
  assert.deepEqual(running, [2, 3], 'the next of the first one comes after all who waited')
  await endOne()
  assert.deepEqual(running, [3, 1])
  while (ends.length > 0) await endOne()
  await Promise.all(all)
})

test("a busy owner's call that waited too long is refused and never runs", async () => {
  const limiter = new FairLimiter(2, { timeoutMs: 20 })
  const first = Promise.withResolvers<void>()
  const running = limiter.run(1, () => first.promise)
  const waiting = Array.from({ length: 100 }, () =>
    limiter.run(1, () => assert.fail('its turn never came')),
  )
  assert.equal(await limiter.run(2, async () => 'done'), 'done')
  for (const { reason } of (await Promise.allSettled(waiting)) as PromiseRejectedResult[]) {
    assert.ok(reason instanceof ApiError)
  }
  first.resolve()
  await running
})

test("the time limit covers the wait among the owner's calls and among all calls together", async () => {
  const limiter = new FairLimiter(1, { timeoutMs: 200 })
  const [own, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const running = [limiter.run(1, () => own.promise), limiter.run(2, () => other.promise)]
  const askedMs = performance.now()
  const waiting = limiter.run(1, () => assert.fail('its turn never came'))
  setTimeout(own.resolve, 120) // From then on it waits for the other owner's call.
  await assert.rejects(waiting, { status: 503 })
  assert.ok(performance.now() - askedMs < 300)
  other.resolve()
  await Promise.all(running)
})

test("a file's first page can be refused, later pages wait as long as needed", async () => {
  const limiter = new FairLimiter(1, { timeoutMs: 20 })
  const first = Promise.withResolvers<void>()
  const running = limiter.run(1, () => first.promise)
  const page = (isStarted: boolean) => limiter.run(1, async () => 'read', unlessStarted(isStarted))
  const later = page(true)
  await assert.rejects(page(false), { status: 503 })
  first.resolve()
  assert.equal(await later, 'read')
  await running
})
