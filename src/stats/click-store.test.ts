import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { clickId, MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { MODEL } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { foldMoney } from '../fold/fold-money.ts'
import { sql } from '../platform/postgres/sql.ts'
import { listClickEntries } from './click-page-store.ts'
import { findClicksToReverse, listClicksOfResult } from './click-store.ts'

test('the price of a click is that of a paid click; terms of orders are separate', async (t) => {
  const db = await testDatabase(t)
  const events = new MoneyEvents()
  const terms = { termsAmount: 80_000, sharePpm: 750_000 }
  const models = { cpc: MODEL.cpc, cpa: MODEL.cpa, epp: MODEL.epp }
  const clicks = Object.entries(models).map(([name, model]) =>
    events.click(name, START_MS, { ...terms, model }),
  )
  await db.transaction((tx) => foldMoney(tx, clicks))
  const amountsOf = async (name: string) => {
    const number = Buffer.from(clickId(`result ${name}`), 'hex')
    const [click] = await listClicksOfResult(db, number)
    return [click?.price, click?.paid, click?.publisher_earns, click?.rate, click?.payment]
  }
  assert.deepEqual(await amountsOf('cpc'), ['0.08', '0.08', '0.06', null, null])
  assert.deepEqual(await amountsOf('cpa'), ['0.00', '0.00', '0.00', 0.08, null])
  assert.deepEqual(await amountsOf('epp'), ['0.00', '0.00', '0.00', null, '0.08'])
})

test('a robot’s many clicks on a result never hide the paid one', async (t) => {
  const db = await testDatabase(t)
  const events = new MoneyEvents()
  const resultNumber = Buffer.from(clickId('result of all'), 'hex')
  const price = { model: MODEL.cpc, termsAmount: 80_000, reservedMicros: 80_000, resultNumber }
  const click = (name: string, reason: number) => events.click(name, START_MS, { ...price, reason })
  const robots = Array.from({ length: 104 }, (_, at) => click(`robot ${at}`, REASON.robot))
  await db.transaction((tx) => foldMoney(tx, [...robots, click('paid', REASON.ok)]))
  const paid = clickId('paid')
  assert.equal((await listClicksOfResult(db, resultNumber))[0]?.click_id, paid)
  assert.equal((await listClickEntries(db, { pubId: 5, resultNumber }))[0]?.click_id, paid)
  const wanted = { clickId: null, resultNumber: resultNumber.toString('hex') }
  const first = await findClicksToReverse(db, wanted)
  assert.equal(first[0]?.clickId, paid)
  const ids = first.map(({ clickId: id }) => Buffer.from(id, 'hex'))
  await db.run(sql`update click set reversed_at = now() where click_id = any(${ids}::bytea[])`)
  const left = (await findClicksToReverse(db, wanted)).filter(({ isReversed }) => !isReversed)
  assert.equal(left.length, 5, 'and the next call finds the rest')
})
