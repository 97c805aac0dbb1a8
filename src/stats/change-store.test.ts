import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase } from '../../test/support/database.ts'
import { clickId, MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { rowsRead } from '../../test/support/rows-read.ts'
import { EVENT_TYPE, MODEL, type StoredEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { foldMoney } from '../fold/fold-money.ts'
import { foldViews } from '../fold/fold-views.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { CHANGES_START, parseCursor } from './change-cursor.ts'
import { listChanges } from './change-store.ts'
import { listStats } from './row-store.ts'
import type { StatsChanges, StatsRow } from './schema.ts'

const SINCE = new Date('2000-01-01T00:00:00Z')
type Lists = Pick<StatsChanges, 'changes' | 'placements' | 'networks' | 'impressions'>

/** All changes after a cursor, page by page, and the final cursor. */
async function readChanges(
  db: Db,
  { pubId, limitRows, from }: { pubId: number; limitRows: number; from?: string | undefined },
): Promise<Lists & { readonly cursor: string }> {
  const all: Lists = { changes: [], placements: [], networks: [], impressions: [] }
  let cursor = from === undefined ? CHANGES_START : parseCursor(from)
  for (;;) {
    assert.ok(cursor !== null, 'a cursor that was given is taken')
    const page = await listChanges(db, { pubId, since: SINCE, cursor, limitRows })
    for (const list of ['changes', 'placements', 'networks', 'impressions'] as const) {
      assert.ok(page[list].length <= limitRows)
      all[list].push(...(page[list] as never[]))
    }
    if (page.next === null) return { ...all, cursor: page.cursor }
    cursor = parseCursor(page.next)
  }
}

const KEY = ['event_date', 'article_id', 'merch_id'] as const

/** The sums of the changes, by day, article and merchant (0 for other networks). */
function addUp({ changes, placements, networks }: Lists): Map<string, number[]> {
  const rows = new Map<string, number[]>()
  const of = (row: Pick<StatsRow, (typeof KEY)[number]>, figures: readonly number[]) => {
    const key = KEY.map((name) => row[name]).join(' ')
    rows.set(
      key,
      (rows.get(key) ?? [0, 0, 0, 0]).map((had, at) => had + (figures[at] ?? 0)),
    )
  }
  const figuresOf = (row: (typeof changes)[number] | (typeof networks)[number]) => [
    row.clicks,
    row.advertiser_attributed_sales,
    Math.round(Number(row.advertiser_attributed_revenue) * 1e6),
    Math.round(Number(row.pub_earnings) * 1e6),
  ]
  for (const row of changes) of(row, figuresOf(row))
  for (const row of networks) of({ ...row, merch_id: 0 }, figuresOf(row))
  for (const row of placements) of(row, [])
  return rows
}

test('every row of the statistics is among the changes, and equals their sum', async (t) => {
  const db = await testDatabase(t)
  const { one, other } = await foldBusyLog(t, db)
  for (const { publisher } of [one, other]) {
    const pubId = publisher.pub_id
    const rows = await listStats(db, {
      pubId,
      dayFrom: '2026-01-01',
      dayTo: '2026-12-31',
      isOutOfNetwork: true,
      orderBy: 'clicks',
      isAscending: false,
      limitRows: 10_000,
      asOf: null,
    })
    const lists = await readChanges(db, { pubId, limitRows: 2 })
    const sums = addUp(lists)
    const shown = new Map<string, number[]>()
    for (const row of rows) {
      const key = KEY.map((name) => row[name]).join(' ')
      const had = shown.get(key) ?? [0, 0, 0, 0]
      const figures = [row.clicks, row.advertiser_attributed_sales]
      shown.set(
        key,
        [...figures, 0, 0].map((figure, at) => figure + (had[at] ?? 0)),
      )
    }
    for (const [key, [clicks, sales]] of sums) {
      assert.deepEqual(shown.get(key)?.slice(0, 2), [clicks, sales], key)
    }
    const seen = new Set(lists.impressions.map((row) => `${row.event_date} ${row.article_id} 0`))
    for (const key of shown.keys()) assert.ok(sums.has(key) || seen.has(key), key)
    for (const { cause, event_ids } of [...lists.changes, ...lists.networks]) {
      assert.ok(cause !== '' && event_ids.length > 0)
    }
    assert.deepEqual(await readChanges(db, { pubId, limitRows: 10_000 }), lists)
  }
})

test('a click that no budget could pay appears as the change that created its row', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId, articleId } = await addArticle('Ten mugs')
  const { pub_id: pubId } = publisher
  const { merch_id: merchId } = merchant
  const events = new MoneyEvents()
  const click = (name: string, reason: number) =>
    events.click(name, START_MS, {
      auctionId,
      pubId,
      merchId,
      model: MODEL.cpc,
      termsAmount: 400_000,
      reason,
    })
  const [unfunded, robot] = [click('a', REASON.unfunded), click('b', REASON.robot)]
  await db.transaction((tx) => foldMoney(tx, [robot]))
  assert.deepEqual((await readChanges(db, { pubId, limitRows: 9 })).changes, [])
  await db.transaction((tx) => foldMoney(tx, [unfunded]))
  const { changes } = await readChanges(db, { pubId, limitRows: 9 })
  assert.deepEqual(
    changes.map(({ change_id: _, changed_at: __, ...change }) => change),
    [
      {
        cause: 'click',
        event_ids: [unfunded.id],
        event_date: '2026-03-02',
        article_id: articleId,
        merch_id: merchId,
        clicks: 0,
        advertiser_attributed_sales: 0,
        advertiser_attributed_revenue: '0.00',
        pub_earnings: '0.00',
      },
    ],
  )
})

test('a row created by a placement is listed once, and an existing row is not listed', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const [shown, clicked] = [await addArticle('Shown'), await addArticle('Clicked')]
  const { pub_id: pubId } = publisher
  const { merch_id: merchId } = merchant
  const events = new MoneyEvents()
  const placement = (auctionId: string) =>
    events.at(START_MS, {
      type: EVENT_TYPE.placement,
      lane: viewLane(pubId),
      pubId,
      merchId,
      auctionId,
    })
  const fold = (...batch: StoredEvent[]) => db.transaction((tx) => foldViews(tx, batch))
  const click = { auctionId: clicked.auctionId, pubId, merchId, model: MODEL.cpc }
  await db.transaction((tx) =>
    foldMoney(tx, [events.click('a', START_MS, { ...click, termsAmount: 400_000 })]),
  )
  await fold(placement(shown.auctionId), placement(clicked.auctionId))
  await fold(placement(shown.auctionId))
  // A placement without a merchant creates no row.
  await fold({ ...placement(shown.auctionId), merchId: 0 })
  const { placements, cursor } = await readChanges(db, { pubId, limitRows: 1 })
  assert.deepEqual(
    placements.map(({ changed_at: _, ...row }) => row),
    [
      {
        cause: 'placement',
        event_ids: [],
        event_date: '2026-03-02',
        article_id: shown.articleId,
        merch_id: merchId,
      },
    ],
  )
  const rest = await readChanges(db, { pubId, limitRows: 1, from: cursor })
  assert.deepEqual([rest.placements, rest.changes, rest.cursor], [[], [], cursor])
})

test('page impressions of readers are listed, those of robots are not', async (t) => {
  const db = await testDatabase(t)
  const { publisher, addArticle } = await makePublisherWorld(db)
  const { url } = await addArticle('Ten mugs')
  const pubId = publisher.pub_id
  const events = new MoneyEvents()
  const nowMs = Date.now() // Not before the article's own day.
  const view = (session: string, reason: number = REASON.ok) =>
    events.at(nowMs, {
      ...{ type: EVENT_TYPE.pageImpression, lane: viewLane(pubId), pubId, reason },
      ...{ sessionKey: Buffer.from(session.padEnd(16)), urlKey: keyOfUrl(new URL(url)) },
    })
  const fold = (event: StoredEvent) => db.transaction((tx) => foldViews(tx, [event]))
  await fold(view('one'))
  const first = await readChanges(db, { pubId, limitRows: 9 })
  assert.deepEqual(
    first.impressions.map((row) => row.impressions),
    [1],
  )
  await fold(view('robot', REASON.robot))
  const second = await readChanges(db, { pubId, limitRows: 9, from: first.cursor })
  assert.deepEqual(second.impressions, [])
  await fold(view('two'))
  const third = await readChanges(db, { pubId, limitRows: 9, from: first.cursor })
  assert.deepEqual(
    third.impressions.map((row) => row.impressions),
    [2],
  )
})

/** An import of one partition: its rows as advertiser and sales. */
function importOf(
  events: MoneyEvents,
  partition: {
    pubId: number
    id: string
    rows: readonly (readonly [string, number])[]
    account?: string
  },
): StoredEvent[] {
  const { pubId, id, rows, account = '' } = partition
  const type = EVENT_TYPE.networkRow
  const shared = { import_id: id, report_date: '2026-03-01' }
  const listed = rows.map(([advertiser, sales], row) => {
    const amounts = { clicks: 0, sales, revenue_micros: sales * 1_000_000, earnings_micros: sales }
    const body = { kind: 'row', ...shared, row, article_id: 0, advertiser, ...amounts }
    return events.at(START_MS, { type, pubId, body: JSON.stringify(body) })
  })
  const end = { kind: 'partition', ...shared, network: 'n', account, rows: rows.length }
  const body = JSON.stringify({ ...end, rows_hash: clickId(id) })
  return [...listed, events.at(START_MS, { type, body })]
}

test('an import lists the changes of its network’s rows, also of new and removed rows', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const { pub_id: pubId } = publisher
  const events = new MoneyEvents()
  const before = importOf(events, {
    pubId,
    id: '9223372036854775807',
    rows: [
      ['goes', 0],
      ['grows', 3],
      ['stays', 2],
    ],
  })
  const after = importOf(events, {
    pubId,
    id: '1',
    rows: [
      ['comes', 0],
      ['grows', 4],
      ['stays', 2],
    ],
  })
  await db.transaction((tx) => foldMoney(tx, before))
  const first = await readChanges(db, { pubId, limitRows: 1 })
  const rowsOf = ({ networks }: Lists) =>
    networks.map((row) => [
      row.cause,
      row.event_ids,
      row.event_date,
      row.network,
      row.advertiser,
      row.advertiser_attributed_sales,
      row.advertiser_attributed_revenue,
      row.pub_earnings,
    ])
  const ofFirst = ['import', [before.at(-1)?.id], '2026-03-01', 'n']
  assert.deepEqual(rowsOf(first), [
    [...ofFirst, 'goes', 0, '0.00', '0.00'],
    [...ofFirst, 'grows', 3, '3.00', '0.000003'],
    [...ofFirst, 'stays', 2, '2.00', '0.000002'],
  ])
  await db.transaction((tx) => foldMoney(tx, after))
  const second = await readChanges(db, { pubId, limitRows: 1, from: first.cursor })
  const ofSecond = ['import', [after.at(-1)?.id], '2026-03-01', 'n']
  assert.deepEqual(rowsOf(second), [
    [...ofSecond, 'comes', 0, '0.00', '0.00'],
    [...ofSecond, 'goes', 0, '0.00', '0.00'],
    [...ofSecond, 'grows', 1, '1.00', '0.000001'],
  ])
  // Each import replaces the previous import of its account only.
  const rows = [
    ['comes', 0],
    ['grows', 6],
    ['stays', 2],
  ] as const
  const last = importOf(events, { pubId, id: '2', rows })
  await db.transaction((tx) =>
    foldMoney(
      tx,
      last.map((event) => ({ ...event, atMs: START_MS + 1 })),
    ),
  )
  const third = await readChanges(db, { pubId, limitRows: 1, from: second.cursor })
  const ofThird = ['import', [last.at(-1)?.id], '2026-03-01', 'n']
  assert.deepEqual(rowsOf(third), [[...ofThird, 'grows', 2, '2.00', '0.000002']])
  const elsewhere = importOf(events, { pubId, id: '3', rows, account: 'another' })
  await db.transaction((tx) => foldMoney(tx, elsewhere))
  const shown = await db.rows<{ until: Date | null }>(sql`
    select until from network_partition order by partition_no`)
  assert.deepEqual(
    shown.map(({ until }) => until?.getTime()),
    [START_MS, START_MS + 1, undefined, undefined],
  )
})

test('a change at the exact start time is listed, in every list', async (t) => {
  const db = await testDatabase(t)
  const { one } = await foldBusyLog(t, db)
  const pubId = one.publisher.pub_id
  const at = new Date('2100-01-01T12:00:00Z') // after everything folded so far
  await db.run(sql`
    insert into stats_change (changed_at, cause, event_ids, day, pub_id, article_id, merch_id)
    values (${at}, 'click', '{}', '2026-03-02', ${pubId}, 1, 1)`)
  await db.run(sql`update stats_day set placed_at = ${at} where placed_at is not null`)
  await db.run(sql`update network_partition set at = ${at}`)
  await db.run(sql`update page_day set changed_at = ${at}`)
  const areThere = async (since: Date) => {
    const wanted = { pubId, since, cursor: CHANGES_START, limitRows: 9 }
    const { changes, placements, networks, impressions } = await listChanges(db, wanted)
    return [changes, placements, networks, impressions].map((list) => list.length > 0)
  }
  assert.deepEqual(await areThere(at), [true, true, true, true])
  assert.deepEqual(await areThere(new Date(at.getTime() + 1)), [false, false, false, false])
})

test('a page of changes reads its own rows of a long list and no others', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const pubId = publisher.pub_id
  await db.run(sql`
    insert into stats_change (changed_at, cause, event_ids, day, pub_id, article_id, merch_id)
    select ${SINCE}::timestamptz + number * interval '1 hour', 'click', '{}', '2026-03-02', ${pubId},
      1, 1
    from generate_series(1, 2000) as number`)
  await db.run(sql`
    insert into stats_day (day, pub_id, article_id, merch_id, placed_at)
    select '2026-03-02', ${pubId}, number, 1, ${SINCE}::timestamptz + number * interval '1 hour'
    from generate_series(1, 2000) as number`)
  await db.transaction(async (tx) => {
    // Makes the planner choose as it does for lists of millions.
    await tx.run(sql`set local enable_seqscan = off`)
    await tx.run(sql`set local enable_sort = off`)
    const wanted = { pubId, since: SINCE, cursor: CHANGES_START, limitRows: 10 }
    const tables = ['stats_change', 'stats_day']
    const before = await rowsRead(tx, tables)
    const page = await listChanges(tx, wanted)
    assert.deepEqual([page.changes.length, page.placements.length], [10, 10])
    const rows = (await rowsRead(tx, tables)) - before
    assert.ok(rows > 0 && rows < 200, `${rows} rows read`)
  })
})
