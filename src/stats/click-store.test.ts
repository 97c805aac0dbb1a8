import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { clickId, MoneyEvents, START_MS } from '../../test/money-events.ts'
import { MODEL } from '../events/event.ts'
import { listClicksOfResult } from './click-store.ts'
import { foldMoney } from './fold-money.ts'

test('the price of a click is that of a paid one: the terms of an order are none', async (t) => {
  const db = await testDatabase(t)
  const events = new MoneyEvents()
  const terms = { priceMicros: 80_000, sharePpm: 750_000 }
  const models = { cpc: MODEL.cpc, cpa: MODEL.cpa, epp: MODEL.epp }
  const clicks = Object.entries(models).map(([name, model]) =>
    events.click(name, START_MS, { ...terms, model }),
  )
  await db.transaction((tx) => foldMoney(tx, clicks))
  const told = async (name: string) => {
    const number = Buffer.from(clickId(`result ${name}`), 'hex')
    const [click] = await listClicksOfResult(db, number)
    return [click?.price, click?.paid, click?.publisher_earns]
  }
  assert.deepEqual(await told('cpc'), ['0.08', '0.08', '0.06'])
  assert.deepEqual(await told('cpa'), ['0.00', '0.00', '0.00'])
  assert.deepEqual(await told('epp'), ['0.00', '0.00', '0.00'])
})
