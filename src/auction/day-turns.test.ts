import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { dayTurns } from './day-turns.ts'

test('two days are run at once, and of one publisher one, so that its many keep no other waiting', async () => {
  const inTurn = dayTurns()
  const running: number[] = []
  const ends: (() => void)[] = []
  const run = (pubId: number) =>
    inTurn(pubId, async () => {
      running.push(pubId)
      const end = Promise.withResolvers<void>()
      ends.push(end.resolve)
      await end.promise
      running.splice(running.indexOf(pubId), 1)
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
