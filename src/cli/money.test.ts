import assert from 'node:assert/strict'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { MODEL, type StoredEvent } from '../events/event.ts'
import { sql } from '../platform/postgres/sql.ts'

const CLICKED_MS = Date.UTC(2026, 3, 10, 12)
const NOW = new Date('2026-04-13T12:00:00Z')
const clock = { now: NOW }
const db = await testDatabase()
const log = openFoldedLog({ after }, db)
const world = await makePublisherWorld(db)
const merchId = world.merchant.merch_id
const pubId = world.publisher.pub_id
const article = await world.addArticle('Ten mugs')
const campaignId = await world.addCampaign()
const folder = await temporaryFolder({ after }, 'souk-money-')

async function souk(...args: string[]) {
  const { code, out, err } = await runCommand([...args, '--json'], { db, now: clock.now })
  return { code, err, json: out === '' ? null : JSON.parse(out) }
}

async function done(...args: string[]) {
  const { code, err, json } = await souk(...args)
  assert.equal(err, '')
  assert.equal(code, 0)
  return json
}

async function file(name: string, text: string | Buffer): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

const events = new MoneyEvents()
const own = { pubId, merchId, campaignId, auctionId: article.auctionId }
async function recordClicks(...names: [string, Partial<StoredEvent>][]): Promise<void> {
  const clicks = names.map(([name, fields]) =>
    events.click(name, CLICKED_MS, { ...own, ...fields }),
  )
  await log.record(...clicks)
}

test('rates are imported, and orders that waited for them count (needs the data kit)', async (t) => {
  const path = kitPath(t, 'oracles/fx-ecb-sample.csv')
  if (path === null) return
  await recordClicks(['yen', {}])
  const orders = await file(
    'yen.csv',
    `order_id,value,currency,click_id,ordered_at\ny1,12800,JPY,${clickId('yen')},2026-04-13T08:00:00Z\n`,
  )
  const imported = await done('orders', 'import', '--merchant', String(merchId), '--file', orders)
  assert.deepEqual(imported, { rows: 1, imported: 1, rejected: 0, rejects: [] })
  assert.deepEqual(
    (await done('orders', 'held')).map((row: { hold: string }) => row.hold),
    ['no_rate'],
  )
  const importRates = () => done('rates', 'import', '--file', path, '--source', 'ecb')
  const { rates, orders_released, ...counts } = await importRates()
  assert.ok(rates > 100)
  assert.equal(orders_released, 1)
  assert.deepEqual(counts, { new: rates, changed: 0, same: 0 })
  assert.equal((await importRates()).same, rates)
  const shown = await done('orders', 'show', '--merchant', String(merchId), '--order', 'y1')
  assert.equal(shown.revenue_usd, '80.083106')
  assert.equal(shown.rate.currency_per_base, '186.75')
  assert.equal(shown.evidence[0].verdict, 'won')
  assert.equal(shown.state, 'PENDING')
  assert.deepEqual(await done('orders', 'held'), [])
})

test('orders and returns come from files; the same file again changes nothing (P47)', async () => {
  await recordClicks(['csv', {}])
  const merchant = ['--merchant', String(merchId)]
  const orders = await file(
    'orders.csv',
    [
      'Order_ID,Value,Currency,Click_ids,Product_id,Product_name,Quantity,Price,is_new_customer',
      `c1,550.00,usd,"${clickId('csv')},x",A1,"Mug, blue",4,100.00,yes`,
      'c1,,,,B1,Plate,1,150.00,',
      'c2,9.00,XYZ,,,,,,',
      'c3,10.00,USD,,A1,Mug,half,5.00,',
    ].join('\n'),
  )
  const result = await done('orders', 'import', ...merchant, '--file', orders)
  assert.deepEqual([result.rows, result.imported, result.rejected], [4, 1, 2])
  assert.deepEqual(
    result.rejects.map((row: { line: number; id: string }) => [row.line, row.id]),
    [
      [4, 'c2'],
      [5, 'c3'],
    ],
  )
  const returns = await file(
    'returns.csv',
    'return_id,order_id,product_id,quantity\nr1,c1,A1,2\nr2,c1,A1,9\nr3,c1,,1\n',
  )
  const back = await done('returns', 'import', ...merchant, '--file', returns)
  assert.deepEqual([back.imported, back.rejected], [1, 2])

  const books = () => db.rows(sql`select * from ledger_line order by transaction_id, line`)
  const before = await books()
  const { ordered_at } = await done('orders', 'show', ...merchant, '--order', 'c1')
  clock.now = new Date(NOW.getTime() + 3_600_000)
  await done('orders', 'import', ...merchant, '--file', orders)
  await done('returns', 'import', ...merchant, '--file', returns)
  clock.now = NOW
  assert.deepEqual(await books(), before)
  const shown = await done('orders', 'show', ...merchant, '--order', 'c1')
  assert.equal(shown.ordered_at, ordered_at)
  assert.deepEqual(
    shown.lines.map((line: Record<string, unknown>) => [
      line.order_product_id,
      line.name,
      line.line_earnings_usd,
      line.returned,
    ]),
    [
      [`c1:${merchId}:A1`, 'Mug, blue', '40.00', 2],
      [`c1:${merchId}:B1`, 'Plate', '15.00', 0],
    ],
  )
})

test('an order can be rejected while it is pending, with a reason', async () => {
  await recordClicks(['bad', {}])
  const orders = await file(
    'bad.csv',
    `order_id,value,currency,click_id\nb1,50.00,USD,${clickId('bad')}\n`,
  )
  const merchant = ['--merchant', String(merchId)]
  await done('orders', 'import', ...merchant, '--file', orders)
  const shown = await done('orders', 'reject', ...merchant, '--order', 'b1', '--reason', 'fraud')
  assert.deepEqual([shown.state, shown.reject_reason], ['REJECTED', 'fraud'])
  const none = await souk('orders', 'approve', ...merchant, '--order', 'none')
  assert.equal(none.code, 1)
  assert.match(none.err, /no order none/)
})

test('a decision that would change nothing is refused, with the order’s state and why', async () => {
  await recordClicks(['kept', {}], ['flat', { model: MODEL.epp, termsAmount: 1_500_000 }])
  const merchant = ['--merchant', String(merchId)]
  const orders = await file(
    'decided.csv',
    [
      'order_id,value,currency,click_id',
      `d1,50.00,USD,${clickId('kept')}`,
      `d2,50.00,USD,${clickId('flat')}`,
      `d3,50.00,KWD,${clickId('kept')}`,
    ].join('\n'),
  )
  await done('orders', 'import', ...merchant, '--file', orders)
  const decide = (kind: 'approve' | 'reject', order: string) => {
    const reason = kind === 'reject' ? ['--reason', 'fraud'] : []
    return souk('orders', kind, ...merchant, '--order', order, ...reason)
  }
  const refused = async (kind: 'approve' | 'reject', order: string, why: RegExp) => {
    const { code, err } = await decide(kind, order)
    assert.deepEqual([code, why.test(err)], [1, true], `${kind} ${order}: ${err}`)
  }
  const logged = () => db.rows(sql`select count(*) from event`)
  const before = await logged()
  await refused('approve', 'd1', /PENDING and not held/)
  await refused('approve', 'd2', /LOCKED: its earnings stand/)
  await refused('reject', 'd2', /LOCKED: its earnings stand/)
  await refused('approve', 'd3', /exchange rate/)
  assert.deepEqual(await logged(), before)
  assert.equal((await decide('reject', 'd3')).code, 0)
  await refused('reject', 'd3', /REJECTED already/)
  await refused('approve', 'd3', /REJECTED already/)
})

test('a click is reversed once, and the entries made are shown', async () => {
  await recordClicks(['ivt', { model: MODEL.cpc, termsAmount: 400_000, reservedMicros: 400_000 }])
  const reverse = () => souk('reverse', '--click', clickId('ivt'), '--reason', 'bought traffic')
  const { code, json } = await reverse()
  assert.equal(code, 0)
  assert.deepEqual(json.clicks, [clickId('ivt')])
  assert.equal(json.entries[0].corrects, `click:${clickId('ivt')}`)
  assert.deepEqual(
    json.entries[0].lines.map((line: { account: string; amount_usd: string }) => [
      line.account,
      line.amount_usd,
    ]),
    [
      ['merchant', '0.40'],
      ['publisher', '-0.40'],
      ['platform', '0.00'],
    ],
  )
  const again = await reverse()
  assert.equal(again.code, 1)
  assert.match(again.err, /at most once/)
  const unknown = await souk('reverse', '--result', '00'.repeat(16), '--reason', 'x')
  assert.match(unknown.err, /No such click/)
})

test('of two reversals of one click at once, also an unpaid one, the second in the log is refused', async () => {
  await recordClicks(['raced', { model: MODEL.cpc, termsAmount: 0, reservedMicros: 0 }])
  const reverse = () => souk('reverse', '--click', clickId('raced'), '--reason', 'bought traffic')
  const both = await Promise.all([reverse(), reverse()])
  const [taken, other] = both.toSorted((a, b) => a.code - b.code)
  assert.deepEqual([taken?.code, taken?.json.clicks], [0, [clickId('raced')]])
  assert.deepEqual([other?.code, other?.json], [1, null])
  assert.match(other?.err ?? '', /at most once/)
})

test('a file without the columns it needs is refused, naming each; UTF-16 is read', async () => {
  const merchant = ['--merchant', String(merchId)]
  const import_ = async (what: string, text: string | Buffer, ...options: string[]) =>
    souk(what, 'import', ...options, '--file', await file('columns.csv', text))
  const needs = (...names: string[]) =>
    names.map((name) => `line 1: does not look like a header: needs a column "${name}"\n`).join('')
  const orders = ['order_id', 'value', 'currency']
  for (const text of ['', 'id;total\n1;2\n']) {
    const { code, err } = await import_('orders', text, ...merchant)
    assert.deepEqual([code, err], [1, needs(...orders)])
  }
  const returns = await import_('returns', 'order_id,quantity\nx,1\n', ...merchant)
  assert.deepEqual([returns.code, returns.err], [1, needs('return_id')])
  const rates = 'date,currency,rate\n2019-01-02,USD,1.1397\n2019-01-02,GBP,0.8990\n'
  const utf16 = Buffer.from(`\ufeff${rates}`, 'utf16le')
  const { code, json } = await import_('rates', utf16, '--source', 'sheet')
  assert.deepEqual([code, json.rates], [0, 2])
})

test('another network’s report is imported by its ready map, row by row or not at all', async () => {
  await recordClicks(['net', {}])
  const report = await file(
    'rakuten.csv',
    [
      'Member ID (U1),MID,Advertiser Name,Order ID,Transaction Date,Transaction Time,SKU,Sales,# of Items,Total Commission,Process Date,Process Time',
      `${clickId('net')},1,Elsewhere,o1,4/10/26,10:00,S1,"$1,100.00",1,55.00,4/11/26,10:00`,
      `${clickId('net')},1,Elsewhere,o1,4/10/26,10:00,S2,100.00,1,5.00,4/11/26,10:00`,
      `${clickId('net')},1,Elsewhere,o2,4/10/26,10:00,S2,-100.00,1,-5.00,4/11/26,10:00`,
      'somebody,1,Elsewhere,o3,4/10/26,10:00,S2,100.00,1,5.00,4/11/26,10:00',
      `${clickId('net')},1,Elsewhere,o4,soon,10:00,S2,100.00,1,5.00,4/11/26,10:00`,
    ].join('\n'),
  )
  const command = ['import-network', '--network', 'rakuten', '--file', report]
  const unknown = { column: null, value: null }
  const detail = 'no sub id of the line is a click id, and no stored line is of its transaction'
  assert.deepEqual(await done(...command), {
    ...{ rows: 5, imported: 3, unchanged: 0, declined: 0, rejected: 2 },
    reasons: { publisher_unknown: 1, date_unreadable: 1 },
    read_as: { date_order: 'mdy', decimal_separator: '.', currencies: { USD: 4 } },
    rejects: [
      { line: 5, reason: 'publisher_unknown', ...unknown, detail: `${detail} or order` },
      {
        ...{ line: 6, reason: 'date_unreadable', column: 'Transaction Date', value: 'soon' },
        detail: null,
      },
    ],
  })
  const shouted = ['import-network', '--network', 'Rakuten', '--file', report]
  assert.equal((await done(...shouted)).unchanged, 3, 'the same network, however it is written')
  const { listStats } = await import('../stats/row-store.ts')
  const rows = await listStats(db, {
    pubId,
    dayFrom: '2026-04-10',
    dayTo: '2026-04-11',
    orderBy: 'pub_earnings',
    isAscending: false,
    limitRows: 10,
    isOutOfNetwork: true,
    asOf: null,
  })
  const own = rows.find((row) => row.merch_id === 0)
  assert.deepEqual(
    [own?.advertiser_name, own?.advertiser_attributed_sales, own?.pub_earnings],
    [null, 0, '55.00'],
  )
  assert.equal(own?.advertiser_attributed_revenue, '1100.00')
  const nomap = await souk('import-network', '--network', 'other', '--file', report)
  assert.match(nomap.err, /cj, rakuten, awin/)
  const dotted = await souk('import-network', '--network', 'my.net', '--file', report)
  assert.match(dotted.err, /^map: there is none for "my.net": .*cj, rakuten, awin/)
  const named = await souk(...command, '--map', 'mymap')
  assert.match(named.err, /^map: .*no such file.*"mymap"/, 'a name may be a file')
  assert.deepEqual((await souk(...command, '--map', folder)).err, `file: ${folder} is not a file\n`)
})

test('a report of any other network is read by the operator’s own map', async () => {
  const map = await file(
    'map.json',
    JSON.stringify({ date: 'day', earnings: 'won', publisher: 'who', article_url: 'page' }),
  )
  const report = await file(
    'own.csv',
    `day,won,who,page\n2026-04-09,1.50,Gazette,${article.url}?utm_source=x\n2026-04-09,x,gazette,\n`,
  )
  const command = ['import-network', '--network', 'own', '--file', report, '--map', map]
  const emptied = await souk(...command, '--rejects', map)
  assert.match(emptied.err, /^rejects: is a file that is read here/)
  const { imported, reasons } = await done(...command)
  assert.equal(imported, 1)
  assert.deepEqual(reasons, { amount_unreadable: 1 })
  const rows = await db.rows(sql`
    select article_id, earnings_micros from network_row where report_date = '2026-04-09'`)
  assert.deepEqual(rows, [{ article_id: article.articleId, earnings_micros: '1500000' }])
})

test('stored days of another network are replaced only when that is asked for', async () => {
  const map = await file('whole.json', '{"date":"day","earnings":"won","publisher":"who"}')
  const first = await file('first.csv', 'day,won,who\n2026-04-07,1,gazette\n')
  const second = await file('second.csv', 'day,won,who\n2026-04-07,2,gazette\n')
  const command = (path: string) => [
    'import-network',
    '--network',
    'whole',
    '--map',
    map,
    '--file',
    path,
  ]
  await done(...command(first))
  const { code, err } = await souk(...command(second))
  assert.equal(code, 1)
  assert.match(err, /^2026-04-07: 1 of the 1 lines .*--replace-days/)
  assert.equal((await done(...command(second), '--replace-days')).imported, 1)
})

test('a row of another network without a real day is left out, and its report imported', async () => {
  const map = await file('days.json', '{"date":"day","earnings":"won","publisher":"who"}')
  const text = 'day,won,who\n0000-01-01,1.50,gazette\n2026-04-08,1.50,gazette\n'
  const report = await file('days.csv', text)
  const command = ['import-network', '--network', 'days', '--file', report, '--map', map]
  const { imported, reasons } = await done(...command)
  assert.deepEqual([imported, reasons], [1, { date_unreadable: 1 }])
})

test('reports are exported to files, whose paths are shown whole', async () => {
  const range = ['--from', '2026-04-10', '--to', '2026-04-11', '--out', folder]
  const { files } = await done('export', '--publisher', 'gazette', '--report', 'clicks', ...range)
  assert.equal(files.length, 2)
  assert.ok(files[0].rows > 0)
  const text = await readFile(files[0].path, 'utf8')
  assert.equal(text.trim().split('\n').length, files[0].rows + 1)
  const deep = [...range.slice(0, -1), join(folder, 'a-name-of-many-words/'.repeat(5))]
  const typed = ['export', '--publisher', 'gazette', '--report', 'clicks', ...deep]
  const paths = (await runCommand(typed, { db, now: clock.now })).out.match(/\/\S+\.csv/g) ?? []
  assert.equal(paths.length, 2)
  for (const path of paths) await access(path)
  for (const wrong of [['--publisher', 'nobody', '--report', 'clicks', ...range]]) {
    assert.equal((await souk('export', ...wrong)).code, 1)
  }
})

test('scheduled deliveries are made, run and listed under one name of theirs', async () => {
  clock.now = new Date(NOW.getTime() + 123)
  const to = join(folder, 'delivered')
  const { delivery_id } = await done('delivery', 'create', '--publisher', 'gazette', '--to', to)
  const { deliveries } = await done('delivery', 'run')
  assert.deepEqual([deliveries[0].delivery_id, deliveries[0].error], [delivery_id, null])
  const [listed] = await done('delivery', 'list')
  assert.deepEqual([listed.delivery_id, listed.delivered_at], [delivery_id, '2026-04-13T12:00:00Z'])
  assert.deepEqual(await done('delivery', 'delete', '--delivery', String(delivery_id)), {
    delivery_id,
  })
  clock.now = NOW
})

test('an export of days whose impressions were dropped says so', async () => {
  const ask = () => {
    const range = ['--from', '2026-04-10', '--to', '2026-04-11', '--out', folder]
    return done('export', '--publisher', 'gazette', '--report', 'clicks', ...range)
  }
  assert.deepEqual(Object.keys(await ask()), ['files'])
  await db.run(sql`
    insert into view_day select '2026-04-10', lane, 1, 0, 1, '', 'dropped' from lane where lane > 0`)
  assert.equal((await ask()).impressions_from, '2026-04-11')
  await db.run(sql`truncate view_day`)
})

test('each change of these commands is one entry of the audit log', async () => {
  const entries = await db.rows<{ action: string; after: { file_name?: string } | null }>(sql`
    select action, after from audit_entry where through = 'cli' order by audit_id`)
  const imported = entries.filter(({ action }) => action === 'orders.import')
  assert.deepEqual(imported.filter(({ after }) => after?.file_name === 'orders.csv').length, 2)
  assert.deepEqual(imported.find(({ after }) => after?.file_name === 'orders.csv')?.after, {
    ...{ file_name: 'orders.csv', rows: 4, imported: 1, rejected: 2 },
  })
  const actions = new Set(entries.map(({ action }) => action))
  for (const action of [
    ...['returns.import', 'network_report.import', 'order.reject', 'click.reverse'],
    ...['report_delivery.create', 'report_delivery.run', 'report_delivery.delete'],
  ]) {
    assert.ok(actions.has(action), action)
  }
})

test('all of this reconciles with the event log', async () => {
  const result = await done('reconcile')
  assert.deepEqual(result.differences, [])
  assert.ok(result.orders > 0 && result.clicks > 0)
  await db.run(sql`update stats_day set earnings_micros = earnings_micros + 1
    where ctid = (select min(ctid) from stats_day)`)
  const { code, json } = await souk('reconcile', '--from', '2026-04-01', '--to', '2026-04-30')
  assert.equal(code, 1)
  const changed = json.differences.filter(({ table }: { table: string }) => table === 'stats_day')
  assert.deepEqual(
    changed.map(({ column }: { column: string }) => column),
    ['earnings_micros'],
  )
})
