import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { EVENT_TYPE, MODEL } from '../events/event.ts'
import { listAgeing } from '../ledger/ageing.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'

const MARCH_MS = Date.UTC(2026, 2, 2, 12)
const NOW = new Date('2026-04-13T12:00:00Z')
const db = await testDatabase()
const log = openFoldedLog({ after }, db)
const events = new MoneyEvents()
const gazette = await makePublisherWorld(db)
const herald = await makePublisherWorld(db, 'herald')
const chronicle = await makePublisherWorld(db, 'chronicle')
const folder = await temporaryFolder({ after }, 'statements')

/** A click for this many dollars, all of them the publisher's. */
function click(
  { publisher, merchant }: typeof gazette,
  name: string,
  dollars: number,
  atMs = MARCH_MS,
) {
  const priceMicros = dollars * 1_000_000
  const owners = { pubId: publisher.pub_id, merchId: merchant.merch_id, campaignId: null }
  const price = { model: MODEL.cpc, termsAmount: priceMicros, reservedMicros: priceMicros }
  return events.click(name, atMs, { ...owners, ...price })
}

function payment({ merchant }: typeof gazette, dollars: number) {
  const amount_micros = dollars * 1_000_000
  const body = JSON.stringify({ reference: 'march', paid_on: '2026-03-02', amount_micros })
  return events.at(MARCH_MS, { type: EVENT_TYPE.payment, merchId: merchant.merch_id, body })
}

const souk = (...args: string[]) => soukAt(NOW, ...args)

async function soukAt(now: Date, ...args: string[]) {
  const { code, out, err } = await runCommand([...args, '--json'], { db, now })
  return { code, err, json: out === '' ? null : JSON.parse(out) }
}

await log.record(
  ...[click(gazette, 'a', 60), payment(gazette, 60), click(gazette, 'b', 25)],
  ...[click(herald, 'c', 49), payment(herald, 70)],
)

test('a debt of exactly thirty, sixty or ninety days is in the column of that age', async () => {
  const midnight = Date.UTC(2026, 3, 13)
  const due = (days: number) => midnight - days * DAY_MS - 1 // Clicks fall due at their day's end.
  await log.record(
    ...[click(chronicle, 'd', 1, due(30)), click(chronicle, 'e', 2, due(31))],
    ...[click(chronicle, 'f', 4, due(60)), click(chronicle, 'g', 8, due(61))],
    ...[click(chronicle, 'h', 16, due(90)), click(chronicle, 'i', 32, due(91))],
  )
  const ageing = await listAgeing(db, new Date(midnight))
  const row = ageing.find(({ merch_id }) => merch_id === chronicle.merchant.merch_id)
  assert.deepEqual(
    [
      ...[row?.up_to_30_days_usd, row?.up_to_60_days_usd],
      ...[row?.up_to_90_days_usd, row?.over_90_days_usd, row?.owed_usd],
    ],
    ['1.00', '6.00', '24.00', '32.00', '63.00'],
  )
})

test('debtors are listed by age, and prepaying merchants with their credit', async () => {
  const [owing, ahead] = (await souk('ageing')).json
  assert.deepEqual(owing, {
    ...{ merch_id: gazette.merchant.merch_id, merchant: "gazette's shop" },
    ...{ owed_usd: '25.00', oldest_due_at: '2026-03-03T00:00:00Z', credit_usd: '0.00' },
    ...{ up_to_30_days_usd: '0.00', up_to_60_days_usd: '25.00' },
    ...{ up_to_90_days_usd: '0.00', over_90_days_usd: '0.00' },
  })
  assert.deepEqual([ahead.owed_usd, ahead.oldest_due_at, ahead.credit_usd], ['0.00', null, '21.00'])
})

test('statements are issued once, listed, and written as a table and a page', async () => {
  const { json } = await souk('statement', 'issue')
  assert.deepEqual(
    json.issued.map((row: Record<string, unknown>) => [row.pub_id, row.month, row.payout_usd]),
    [
      [gazette.publisher.pub_id, '2026-03', '60.00'],
      [herald.publisher.pub_id, '2026-03', '0.00'],
    ],
  )
  assert.deepEqual((await souk('statement', 'issue')).json, { issued: [] })
  const listed = (await souk('statement', 'list', '--publisher', 'herald')).json
  assert.deepEqual(listed, [json.issued[1]])
  const written = ['statement', 'write', '--publisher', 'herald', '--out', join(folder, 'new')]
  const { files } = (await souk(...written, '--month', '2026-03')).json
  const [table, page] = await Promise.all(files.map((path: string) => readFile(path, 'utf8')))
  const id = `S${herald.publisher.pub_id}-202603`
  assert.deepEqual(table.split('\n'), [
    'statement_id,item,merchant,released_usd,taken_back_usd,amount_usd',
    `${id},merchant,herald's shop,49.00,0.00,`,
    ...[`${id},opening,,,,0.00`, `${id},released,,,,49.00`, `${id},taken_back,,,,0.00`],
    ...[`${id},payout,,,,0.00`, `${id},closing,,,,49.00`, ''],
  ])
  assert.match(page, /^<!doctype html>.*herald/s)
  const none = await souk(...written, '--month', '2026-04')
  assert.match(none.err, /No statement of 2026-04 was issued to herald/)
})

test('an invalid month is refused with an example', async () => {
  const out = join(folder, 'none')
  for (const month of ['2026-4', '2026-13', '2026-00', '0000-01']) {
    for (const command of [
      ['payout', 'file'],
      ['statement', 'write', '--publisher', 'herald'],
    ]) {
      const { code, err } = await souk(...command, '--month', month, '--out', out)
      assert.deepEqual([code, err], [1, 'month: must be a month such as 2026-03\n'], month)
    }
  }
})

test('the payout file has a row per paid publisher, and their sum is printed', async () => {
  const path = join(folder, 'payouts.csv')
  await souk('statement', 'issue')
  const { json } = await souk('payout', 'file', '--month', '2026-03', '--out', path)
  assert.deepEqual(json, { path, rows: 1, total_usd: '60.00' })
  const id = `S${gazette.publisher.pub_id}-202603`
  assert.equal(
    await readFile(path, 'utf8'),
    `statement_id,publisher_slug,publisher_name,month,amount_usd\n${id},gazette,gazette,2026-03,60.00\n`,
  )
  const empty = await souk('payout', 'file', '--month', '2026-02', '--out', path)
  assert.deepEqual(empty.json, { path, rows: 0, total_usd: '0.00' })
})

test("a statement's merchants add up to its total even with reversed clicks", async () => {
  await souk('statement', 'issue')
  const body = JSON.stringify({ click_id: clickId('c'), reason: 'bought traffic' })
  await log.record(events.at(Date.UTC(2026, 3, 20), { type: EVENT_TYPE.reversal, body }))
  const later = new Date('2026-05-03T12:00:00Z')
  await soukAt(later, 'statement', 'issue')
  const month = ['--publisher', 'herald', '--month', '2026-04', '--out', join(folder, 'april')]
  const { merchants, ...statement } = (await soukAt(later, 'statement', 'write', ...month)).json
  const merch_id = herald.merchant.merch_id
  assert.deepEqual(merchants, [
    { merch_id, merchant: "herald's shop", released_usd: '0.00', taken_back_usd: '49.00' },
  ])
  assert.deepEqual(
    [statement.opening_usd, statement.taken_back_usd, statement.closing_usd],
    ['49.00', '49.00', '0.00'],
  )
})

test('webhooks are created, listed without their secret, and deleted, for one owner each', async () => {
  const create = (...owner: string[]) =>
    souk(
      'webhook',
      'create',
      ...owner,
      '--url',
      'https://hooks.example/',
      '--event',
      'order.locked',
    )
  const merchant = ['--merchant', String(gazette.merchant.merch_id)]
  const { json: made } = await create('--publisher', 'gazette')
  const { json: other } = await create(...merchant)
  assert.deepEqual([made.pub_id, made.merch_id], [gazette.publisher.pub_id, null])
  assert.deepEqual([other.pub_id, other.merch_id], [null, gazette.merchant.merch_id])
  assert.equal((await create('--publisher', 'gazette', ...merchant)).code, 2)
  const { secret: _, ...shown } = made
  const list = async () => (await souk('webhook', 'list')).json
  assert.deepEqual((await list())[0], shown)
  const enabled = await souk('webhook', 'enable', '--webhook', `${made.webhook_id}`)
  assert.deepEqual({ ...shown, ...enabled.json }, shown)
  const end = () => souk('webhook', 'delete', '--webhook', `${made.webhook_id}`)
  assert.equal((await end()).code, 0)
  assert.match((await end()).err, /No webhook/)
  assert.equal((await list()).length, 1)
  for (const gone of [
    ['enable', '--webhook', `${made.webhook_id}`],
    ['replay', '--delivery', '123'],
  ]) {
    assert.match((await souk('webhook', ...gone)).err, /No (webhook|delivery)/)
  }
})

test('reports go to no other bucket than the named one', async () => {
  const keys = ['--access-key', 'AKID', '--secret-key', 'secret']
  const create = (to: string) =>
    souk('delivery', 'create', '--publisher', 'herald', '--to', to, ...keys)
  for (const to of ['s3://bucket/../other', 's3://bucket/a/..', 's3://bucket/./a/']) {
    const { code, err } = await create(to)
    assert.deepEqual([code, err], [1, 'to: must be a prefix without the parts . and ..\n'], to)
  }
  const { code, json } = await create('s3://bucket/..a/b.c')
  assert.deepEqual([code, json.target], [0, 's3://bucket/..a/b.c'])
})

test('the payout file of a month is refused until a day after it, and is then complete', async () => {
  const path = join(folder, 'june.csv')
  const payouts = (time: string, month = '2026-06') =>
    soukAt(new Date(time), 'payout', 'file', '--month', month, '--out', path)
  const early = await payouts('2026-07-01T23:59:59Z')
  assert.equal(early.code, 1)
  assert.match(early.err, /month: the last month that is over, for a day at least, is 2026-05/)
  assert.equal((await payouts('2026-07-02T12:00:00Z', '2027-05')).code, 1)
  await assert.rejects(readFile(path), { code: 'ENOENT' })
  const juneMs = Date.UTC(2026, 5, 14)
  const body = { reference: 'june', paid_on: '2026-06-16', amount_micros: 400_000_000 }
  const merchId = gazette.merchant.merch_id
  const paid = { type: EVENT_TYPE.payment, merchId, body: JSON.stringify(body) }
  await log.record(click(gazette, 'june', 150, juneMs), events.at(juneMs + 2 * DAY_MS, paid))
  const first = await payouts('2026-07-02T12:00:00Z')
  assert.deepEqual([first.code, first.json?.rows], [0, 1], 'though no job has run yet')
})
