import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '../../test/database.ts'
import { until } from '../../test/market.ts'
import { whileNobodyFetches } from './feed-source-store.ts'

/** Longer than a busy machine keeps this process from saying that it goes on. */
const PATIENTLY = { silenceMsMax: 2_000 }
const BRIEFLY = { silenceMsMax: 500 }

test('a worker that fetches for long keeps the others from it', async (t) => {
  const db = await testDatabase(t)
  const work = async () => {
    await sleep(3_000)
    return whileNobodyFetches(db, async () => 'second', PATIENTLY)
  }
  assert.equal(await whileNobodyFetches(db, work, PATIENTLY), null)
  assert.equal(await whileNobodyFetches(db, async () => 'third', PATIENTLY), 'third')
})

test('a worker that stands still while it fetches keeps no other from it', async (t) => {
  const db = await testDatabase(t)
  t.mock.timers.enable({ apis: ['setInterval'] }) // It says nothing more.
  const begins = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<string>()
  const work = () => {
    begins.resolve()
    return goesOn.promise
  }
  const first = whileNobodyFetches(db, work, BRIEFLY)
  await begins.promise
  await until(async () => (await whileNobodyFetches(db, async () => true, BRIEFLY)) === true)
  goesOn.resolve('what it had begun')
  assert.equal(await first, 'what it had begun')
  assert.equal(await whileNobodyFetches(db, async () => 'next', BRIEFLY), 'next')
})
