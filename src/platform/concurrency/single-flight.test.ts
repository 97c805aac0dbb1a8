import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SingleFlight } from './single-flight.ts'

test('callers during a run share its result, and later callers start a new one', async () => {
  const shared = new SingleFlight<number>()
  let started = 0
  const ask = (key: string) =>
    shared.run(key, async () => {
      started += 1
      const mine = started
      await Promise.resolve()
      if (key === 'broken') throw new Error('broken')
      return mine
    })
  assert.deepEqual(await Promise.all([ask('a'), ask('b'), ask('a')]), [1, 2, 1])
  assert.equal(await ask('a'), 3)
  const both = await Promise.allSettled([ask('broken'), ask('broken')])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(started, 4)
  await assert.rejects(ask('broken'))
  assert.equal(started, 5)
})
