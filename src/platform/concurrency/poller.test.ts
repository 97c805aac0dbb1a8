import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPoller } from './poller.ts'

test('polling continues beside one hanging call, but not beside two', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const asked: PromiseWithResolvers<void>[] = []
  const errors: unknown[] = []
  const tick = async (times: number) => {
    for (let n = 0; n < times; n += 1) {
      t.mock.timers.tick(500)
      await Promise.resolve()
    }
  }
  const ask = () => {
    asked.push(Promise.withResolvers())
    return asked.at(-1)?.promise ?? Promise.resolve()
  }
  const poller = startPoller(ask, { everyMs: 500, onError: (error) => errors.push(error) })
  t.after(() => clearInterval(poller))

  await tick(20)
  assert.equal(asked.length, 2)
  asked[1]?.resolve()
  await asked[1]?.promise
  await tick(20)
  assert.equal(asked.length, 3, 'the first has no answer yet')
  asked[2]?.reject('away')
  await tick(20)
  assert.equal(asked.length, 4)
  assert.deepEqual(errors, ['away'])
})
