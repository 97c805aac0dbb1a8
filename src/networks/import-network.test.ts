import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import fc from '../../test/support/fast-check.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { MODEL } from '../events/event.ts'
import { insertRates } from '../orders/rate-store.ts'
import { ApiError } from '../platform/errors/api-errors.ts'
import { sql } from '../platform/postgres/sql.ts'
import { reconcile } from '../reconcile/reconcile.ts'
import { importNetwork, type NetworkImport } from './import-network.ts'
import type { NetworkMap } from './network-map.ts'
import { READY_MAPS } from './ready-network-maps.ts'

const db = await testDatabase()
const log = openFoldedLog({ after }, db)
const world = await makePublisherWorld(db)
const article = await world.addArticle('Ten mugs')
const pubId = world.publisher.pub_id
const events = new MoneyEvents()
const cid = clickId('network')
await log.record(
  events.click('network', START_MS, {
    ...{ pubId, merchId: world.merchant.merch_id, campaignId: await world.addCampaign() },
    ...{ auctionId: article.auctionId, model: MODEL.cpc },
  }),
)
await insertRates(db, 'test', [
  { day: '2026-11-05', currency: 'EUR', usdPerBase: '1.1', currencyPerBase: '1' },
  { day: '2026-11-05', currency: 'GBP', usdPerBase: '1.3', currencyPerBase: '1' },
  { day: '2026-11-05', currency: 'INR', usdPerBase: '1', currencyPerBase: '80' },
])
const ids = counter(1_000_000)
const deps = {
  db,
  append: log.append,
  nextId: () => String(ids.next().value),
  now: () => START_MS,
}

function* counter(from: number): Generator<number> {
  for (let next = from; ; next++) yield next
}

type Options = { readonly map?: NetworkMap; readonly replacesDays?: boolean }

async function load(network: string, text: string, options: Options = {}): Promise<NetworkImport> {
  const map = options.map ?? READY_MAPS[network.split('-')[0] ?? ''] ?? OWN
  const { replacesDays = false } = options
  const filled = text.replaceAll('{cid}', cid)
  const file = { network, map, text: filled, replacesDays }
  const imported = await importNetwork(deps, file, (events) => log.append(events))
  await log.fold()
  return imported
}

/** The message of a refused import. */
async function refused(...args: Parameters<typeof load>): Promise<string> {
  try {
    await load(...args)
  } catch (error) {
    if (error instanceof ApiError) return JSON.stringify(error.data)
    throw error
  }
  return assert.fail('it was imported')
}

/** Earnings in dollars by day, of one network. */
async function earnings(network: string): Promise<Record<string, number>> {
  const rows = await db.rows<{ day: string; micros: string }>(sql`
    select report_date::text as day, sum(earnings_micros)::bigint as micros
    from network_row join network_partition using (import_id, report_date)
    where network = ${network} and until is null group by report_date order by report_date`)
  return Object.fromEntries(rows.map(({ day, micros }) => [day, Number(micros) / 1e6]))
}

const OWN: NetworkMap = {
  ...{ date: ['Date'], advertiser: ['Advertiser'], sub_id: ['Click'], order_id: ['Order'] },
  ...{ revenue: ['Sales'], earnings: ['Commission'] },
}
const HEAD = 'Date,Advertiser,Click,Order,Sales,Commission\n'
const row = (order: string, commission: string | number, day = '2026-11-05', click = cid) =>
  `${day},Shop,${click},${order},100.00,${commission}\n`

test('the test reports are read as intended', async (t) => {
  const files = kitPath(t, 'real-inputs/cases.json')
  if (files === null) return
  const folder = files.replace('cases.json', '')
  const kit = (name: string) => readFile(`${folder}${name}`, 'utf8')
  await load('cj', await kit('n01a-by-posting-date.csv'))
  await load('cj', await kit('n01b-by-posting-date.csv'))
  assert.deepEqual(await earnings('cj'), { '2026-11-01': 20, '2026-11-20': 7 })
  const statuses = await load('awin', await kit('n02-statuses.csv'))
  assert.deepEqual(await earnings('awin'), { '2026-11-03': 8.59 })
  assert.partialDeepStrictEqual(statuses, { rows: 4, imported: 2, declined: 2, rejected: 0 })
  await load('n03', await kit('n03-decimal-comma.csv'))
  assert.deepEqual(await earnings('n03'), { '2026-11-08': 13.004 })
  await load('n04', await kit('n04-day-first.csv'))
  assert.deepEqual(await earnings('n04'), { '2026-11-04': 1, '2026-11-13': 1 })
  await load('n05', await kit('n05-title-line.csv'))
  assert.deepEqual(await earnings('n05'), { '2026-11-05': 1 })
  const euros = { ...OWN, revenue: ['Sales (€)'], earnings: ['Commission (€)'] }
  const n06 = await load('n06', await kit('n06-currency-in-header.csv'), { map: euros })
  assert.deepEqual(n06.read_as.currencies, { EUR: 1 })
  assert.deepEqual(await earnings('n06'), { '2026-11-05': 27.489 })
  const n07 = await load('n07', await kit('n07-symbols.csv'))
  assert.deepEqual([n07.imported, n07.read_as.currencies], [2, { INR: 2 }])
  assert.deepEqual(await earnings('n07'), { '2026-11-05': 4.375 })
})

test('importing the same file again changes nothing, not even the log', async () => {
  const text = `${HEAD}${row('a', 1)}${row('b', 2)}${row('b', 2)}${row('c', -1)}`
  assert.partialDeepStrictEqual(await load('again', text), { imported: 4, unchanged: 0 })
  const counted = () => db.row(sql`select count(*) from event where type = 15`)
  const before = await counted()
  assert.partialDeepStrictEqual(await load('again', text), { imported: 4, unchanged: 4 })
  assert.deepEqual(await counted(), before)
})

test('refuses a report without transaction ids that lacks stored lines, and names the days', async () => {
  const whole = `${HEAD}${row('a', 1)}${row('b', 2)}${row('c', 3, '2026-11-06')}`
  await load('days', whole)
  const part = `${HEAD}${row('a', 1)}${row('d', 4, '2026-11-06')}`
  const message = await refused('days', part)
  assert.match(message, /2026-11-05.*1 of the 2 lines.*--replace-days.*2026-11-06/)
  assert.match(await refused('days', `${HEAD}${row('a', -1)}${row('b', 2)}`), /2026-11-05/)
  assert.deepEqual(await earnings('days'), { '2026-11-05': 3, '2026-11-06': 3 })
  await load('days', `${HEAD}${row('a', 1.5)}${row('b', 2)}${row('e', 1)}`)
  assert.deepEqual(await earnings('days'), { '2026-11-05': 4.5, '2026-11-06': 3 })
  await load('days', part, { replacesDays: true })
  assert.deepEqual(await earnings('days'), { '2026-11-05': 1, '2026-11-06': 4 })
})

test('no import loses lines without ids, and totals of a day may grow', async () => {
  const map: NetworkMap = { date: ['day'], earnings: ['won'], publisher: ['who'] }
  const { slug } = world.publisher
  const lines = (...won: number[]) =>
    `day,won,who\n${won.map((each) => `2026-11-05,${each},${slug}\n`).join('')}`
  await load('unnamed', lines(10, 10), { map })
  for (const part of [lines(10), lines(5, 10), lines(12)]) {
    assert.match(await refused('unnamed', part, { map }), /2026-11-05/)
  }
  await load('unnamed', lines(10, 5, 10), { map })
  assert.deepEqual(await earnings('unnamed'), { '2026-11-05': 25 })
  const totals = { ...map, clicks: ['clicks'] }
  const total = (won: number) => `day,won,who,clicks\n2026-11-05,${won},${slug},7\n`
  await load('totals', total(10), { map: totals })
  await load('totals', total(12), { map: totals })
  assert.deepEqual(await earnings('totals'), { '2026-11-05': 12 })
})

const MERGED: NetworkMap = {
  ...OWN,
  transaction_id: ['Txn'],
  status: { columns: ['State'], approved: ['ok'], pending: ['open'], declined: ['no', ''] },
}
const TXN_HEAD = 'Txn,State,Date,Advertiser,Click,Order,Sales,Commission\n'
const txn = (
  id: string,
  state: string,
  won: string | number,
  own: { day?: string; click?: string } = {},
) => `${id},${state},${own.day ?? '2026-11-05'},Shop,${own.click ?? cid},,100,${won}\n`

test('merges lines by transaction: a new status, another day, a decline', async () => {
  const map = MERGED
  await load('txn', `${TXN_HEAD}${txn('1', 'open', 5)}${txn('2', 'open', 6)}`, { map })
  await load('txn', `${TXN_HEAD}${txn('2', 'OK', 4)}${txn('3', 'ok', 1)}`, { map })
  assert.deepEqual(await earnings('txn'), { '2026-11-05': 10 })
  await load('txn', TXN_HEAD + txn('1', 'ok', 5, { day: '2026-11-07' }), { map })
  assert.deepEqual(await earnings('txn'), { '2026-11-05': 5, '2026-11-07': 5 })
  const declined = await load('txn', TXN_HEAD + txn('1', 'no', 5, { day: '2026-11-07' }), { map })
  assert.partialDeepStrictEqual(declined, { imported: 0, declined: 1 })
  assert.deepEqual(await earnings('txn'), { '2026-11-05': 5 })
  const unknown = await load('txn', `${TXN_HEAD}${txn('2', 'maybe', 9)}${txn('4', 'ok', 1)}`, {
    map,
  })
  assert.partialDeepStrictEqual(unknown.rejects, [
    { line: 2, reason: 'status_unknown', column: 'State', value: 'maybe' },
  ])
  assert.deepEqual(await earnings('txn'), { '2026-11-05': 6 })
})

test('a correction without a sub id follows the line it corrects, and counts once', async () => {
  const map = MERGED
  await load('corr', TXN_HEAD + txn('1', 'ok', 10), { map })
  const correction = TXN_HEAD + txn('1', 'ok', -4, { click: '' })
  for (const _ of [1, 2]) await load('corr', correction, { map })
  await load('corr', TXN_HEAD + txn('1', 'ok', -1, { click: '' }), { map })
  assert.deepEqual(await earnings('corr'), { '2026-11-05': 5 })
  const stray = await load('corr', TXN_HEAD + txn('9', 'ok', -1, { click: '' }), { map })
  assert.deepEqual(stray.reasons, { publisher_unknown: 1 })
  // By the order, and by the original action of a record with its own id.
  await load('corr-own', HEAD + row('o1', 10))
  const day = '2026-11-06'
  assert.equal((await load('corr-own', HEAD + row('o1', -2, day, ''))).imported, 1)
  const cj =
    'commissionId,originalActionId,orderId,eventDate,postingDate,shopperId,actionStatus,' +
    'pubCommissionAmountUsd\n'
  await load('cj-2', `${cj}1,a,o,2026-11-05,2026-11-05,{cid},closed,30\n`)
  await load('cj-2', `${cj}2,a,,2026-11-05,2026-11-09,,closed,-30\n`)
  assert.deepEqual(await earnings('cj-2'), { '2026-11-05': 0 })
})

test('an unreadable line leaves its stored version unchanged', async () => {
  await load('spared', HEAD + row('a', 1) + row('b', 2))
  const { imported, rejects } = await load(
    'spared',
    `${HEAD}${row('a', 'much')}${row('b', 3)}a,b\n`,
  )
  assert.equal(imported, 1)
  assert.deepEqual(
    rejects.map(({ line, reason, column, value }) => [line, reason, column, value]),
    [
      [2, 'amount_unreadable', 'Commission', 'much'],
      [4, 'date_unreadable', 'Date', 'a'],
    ],
  )
  assert.deepEqual(await earnings('spared'), { '2026-11-05': 4 })
})

test('a map with transaction ids takes over lines imported without them', async () => {
  await load('over', HEAD + row('a', 1) + row('b', 2))
  const map = { ...OWN, transaction_id: ['Txn'] }
  const head = `Txn,${HEAD}`
  await load('over', `${head}t1,${row('a', 1)}`, { map })
  assert.deepEqual(await earnings('over'), { '2026-11-05': 3 })
  await load('over', `${head}t1,${row('a', 1)}t2,${row('b', 5)}`, { map })
  assert.deepEqual(await earnings('over'), { '2026-11-05': 6 })
})

test('each amount has its own currency: from the cell, its column’s name, a column, or the map', async () => {
  const of = async (network: string, text: string, map: NetworkMap = OWN) => {
    const { reasons } = await load(network, text, { map })
    return [Object.values(await earnings(network))[0], reasons]
  }
  const line = (sales: string, won: string) => `2026-11-05,Shop,${cid},o,${sales},${won}\n`
  assert.deepEqual(await of('c1', HEAD + line('10', '£1')), [1.3, {}])
  assert.deepEqual(await of('c2', HEAD + line('10', '1'), { ...OWN, currency_code: 'EUR' }), [
    1.1,
    {},
  ])
  const named = HEAD.replace('Commission', 'Commission (EUR)')
  assert.deepEqual(await of('c3', named + line('10', '1')), [1.1, {}])
  assert.deepEqual(await of('c4', named + line('$10', '£1')), [undefined, { currency_unknown: 1 }])
  assert.deepEqual(await of('c5', HEAD + line('₹80', '1 €')), [1.1, {}])
  assert.deepEqual(await of('c6', HEAD + line('1', '1 SEK')), [undefined, { rate_missing: 1 }])
})

/** Lines as a network enters them: an order and later corrections of it, each at its own time. */
const history = fc.array(
  fc.record({
    order: fc.integer({ min: 1, max: 6 }),
    soldDay: fc.integer({ min: 1, max: 4 }),
    posted: fc.integer({ min: 1, max: 9 }),
    cents: fc.integer({ min: -900, max: 900 }),
  }),
  { minLength: 1, maxLength: 12 },
)
const windows = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 8 })), {
  minLength: 1,
  maxLength: 5,
})

test('reports of overlapping posting periods add up in any order, with and without ids', async () => {
  const runs = counter(1)
  await fc.assert(
    fc.asyncProperty(history, windows, fc.boolean(), async (lines, periods, hasIds) => {
      const network = `cj-${hasIds}-${runs.next().value}`
      const head =
        `${hasIds ? 'commissionId,' : ''}eventDate,postingDate,orderId,shopperId,` +
        'actionStatus,pubCommissionAmountUsd\n'
      const written = lines.map(
        ({ order, soldDay, posted, cents }, index) =>
          `${hasIds ? `c${index},` : ''}2026-11-0${soldDay},2026-11-0${posted}T10:00:0${index % 10}Z,` +
          `o${order},${cid},new,${(cents / 100).toFixed(2)}\n`,
      )
      const seen = new Set<number>()
      for (const [from, length] of periods) {
        const inside = [...lines.keys()].filter((index) => {
          const { posted } = lines[index] ?? { posted: 0 }
          return posted >= from && posted <= from + length
        })
        for (const index of inside) seen.add(index)
        if (inside.length > 0) await load(network, head + inside.map((at) => written[at]).join(''))
      }
      const cents = [...seen].reduce((sum, index) => sum + (lines[index]?.cents ?? 0), 0)
      const total = Object.values(await earnings(network)).reduce((sum, each) => sum + each, 0)
      assert.equal(Math.round(total * 100), cents)
    }),
    { numRuns: 40 },
  )
})

test('a report without any id never loses earnings: it is imported or refused as a whole', async () => {
  const runs = counter(1)
  const sold = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(fc.array(sold, { minLength: 1, maxLength: 4 }), async (reports) => {
      const network = `n${runs.next().value}`
      let stored = 0
      for (const report of reports) {
        await load(network, HEAD + report.map((won) => row('', won)).join('')).catch((error) => {
          assert.ok(error instanceof ApiError)
        })
        const { '2026-11-05': total = 0 } = await earnings(network)
        assert.ok(total >= stored)
        stored = total
      }
    }),
    { numRuns: 40 },
  )
})

test('after all these imports reconcile finds no difference', async () => {
  const { differences } = await reconcile(db, { from: null, to: null })
  assert.deepEqual(differences, [])
})
