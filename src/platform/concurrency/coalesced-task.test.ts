import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CoalescedTask } from './coalesced-task.ts'

test('requests during a run share the next run, and runs never overlap', async () => {
  const started: PromiseWithResolvers<void>[] = []
  const rounds = new CoalescedTask(() => {
    const round = Promise.withResolvers<void>()
    started.push(round)
    return round.promise
  })
  const first = rounds.ask()
  await nextTurn()
  const later = [rounds.ask(), rounds.ask(), rounds.ended()]
  await nextTurn()
  assert.equal(started.length, 1, 'the second round waits for the first')
  started[0]?.resolve()
  await first
  await nextTurn()
  assert.equal(started.length, 2, 'what was asked for meanwhile is done once')
  started[1]?.resolve()
  await Promise.all(later)
  await nextTurn()
  assert.equal(started.length, 2)
  await rounds.ended()
})
