import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CoalescedTask } from './coalesced-task.ts'

test('requests during a run share the next run, and runs never overlap', async () => {
  const begun: PromiseWithResolvers<void>[] = []
  const rounds = new CoalescedTask(() => {
    const round = Promise.withResolvers<void>()
    begun.push(round)
    return round.promise
  })
  const first = rounds.ask()
  await nextTurn()
  const later = [rounds.ask(), rounds.ask(), rounds.ended()]
  await nextTurn()
  assert.equal(begun.length, 1, 'the second round waits for the first')
  begun[0]?.resolve()
  await first
  await nextTurn()
  assert.equal(begun.length, 2, 'what was asked for meanwhile is done once')
  begun[1]?.resolve()
  await Promise.all(later)
  await nextTurn()
  assert.equal(begun.length, 2)
  await rounds.ended()
})
