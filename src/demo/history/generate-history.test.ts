import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseUrl, type Scope, testDatabase } from '../../../test/support/database.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { listDifferences } from '../../../test/support/reconciled.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { SHELL } from '../../accounts/caller.ts'
import { toCall } from '../../accounts/operation.ts'
import { unpackReceipt } from '../../auction/receipt.ts'
import { replayStored } from '../../auction/replay.ts'
import { readConfig } from '../../node/config.ts'
import { type Node, openNode } from '../../node/node.ts'
import { networkOperations } from '../../operator/operations.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { makeLogger } from '../../platform/process/log.ts'
import { DAY_MS, utcDay } from '../../platform/time/timestamp.ts'
import { operationsForMerchants } from '../../server/operations-for-merchants.ts'
import { operationsForPublishers } from '../../server/operations-for-publishers.ts'
import { loadDemoWithHistory } from './generate-history.ts'

/** Few visits: what happens on a certain day does so with any number of them. */
const TRAFFIC = 0.22
/** Fixed, so that every run sees the same days. */
const NOW_MS = Date.parse('2026-11-30T18:00:00Z')

test('the history of a demo reconciles, its receipts replay, and no main list is empty', async (t) => {
  const { node, state } = await demoWithHistory(scopeOf(t))
  const db = node.database
  assert.deepEqual(await listDifferences(db), [])
  const show = lister(node)
  const pub_id = state.publishers.hearthside
  const merch_id = state.merchants['basecamp-direct']

  const days = { date_from: utcDay(NOW_MS - 60 * DAY_MS), date_to: utcDay(NOW_MS + DAY_MS) }
  for (const group_by of ['day', 'device', 'country', 'u1', 'merchant', 'link']) {
    const rows = await show('readBreakdown', { pub_id }, { ...days, group_by })
    assert.ok(rows.length > 1, group_by)
  }
  const healths = new Set((await show('listLinks', { pub_id })).map(({ health }) => health))
  assert.deepEqual(healths, new Set(['earning', 'out_of_stock', 'disabled']))
  const campaigns = await show('listCampaigns', { merch_id })
  assert.deepEqual(
    campaigns.map(({ state: of }) => of),
    ['running', 'out_of_budget'],
  )
  assert.equal((await show('listHeldOrders')).length, 2)
  assert.ok((await show('listPayments')).length > 5)
  assert.ok((await show('listPayouts')).some(({ state: of }) => of === 'paid'))
  const imports = await show('listFeedImports', { merch_id: state.merchants.cornerstone })
  assert.ok(imports.every(({ rejected }) => Object.keys(rejected as object).length > 0))

  const found = await db.row<Record<string, boolean>>(sql`
    select exists (select from webhook_delivery where delivered_at is not null) as arrived,
      exists (select from webhook_delivery where error is not null) as failed,
      exists (select from refused_intake) as refused,
      exists (select from audit_entry where at < ${new Date(NOW_MS - 40 * DAY_MS)}) as audited,
      (select count(distinct reason) from click) >= 5 as unpaid`)
  assert.deepEqual(Object.values(found ?? {}), [true, true, true, true, true])

  const receipts = await db.rows<{ packed: Buffer }>(sql`select packed from receipt`)
  const kinds = new Set(receipts.map(({ packed }) => replayStored(unpackReceipt(packed)).kind))
  assert.deepEqual(kinds, new Set(['equal']))
})

async function demoWithHistory(scope: Scope) {
  const { connection } = await testDatabase(scope)
  const dataDir = await temporaryFolder(scope, 'souk-history-')
  const port = await freePort()
  const config = readConfig({
    ...{ PORT: String(port), HOST: '127.0.0.1' },
    ...{ SOUK_DATA: dataDir, DATABASE_URL: databaseUrl(connection) },
  })
  const node = await openNode(config, { log: makeLogger({ level: 'error' }) })
  scope.after(() => node.close())
  const { database, ids } = node
  const deps = { database, ids, dataDir, now: () => new Date(NOW_MS) }
  const wanted = { nowMs: NOW_MS, seed: 7, traffic: TRAFFIC, sitePort: await freePort() }
  return { node, state: await loadDemoWithHistory(node, deps, wanted) }
}

/** Reads lists of the management API as the operator. */
function lister(node: Node) {
  const { database: db, appender, ids, now } = node
  const intake = { db, append: appender.append, nextId: () => ids.next(), now }
  const operations = [
    ...operationsForPublishers(node),
    ...operationsForMerchants(node, intake),
    ...networkOperations(node, intake),
  ]
  return async (id: string, params: object = {}, query: object = {}) => {
    const operation = operations.find((one) => one.id === id)
    assert.ok(operation?.kind === 'list', id)
    const asked = {
      db,
      caller: SHELL,
      now: new Date(NOW_MS),
      params,
      query: { limit: 100, cursor: null, ...query },
    }
    const { rows } = await operation.run(toCall(operation.path, asked))
    return rows as readonly Readonly<Record<string, unknown>>[]
  }
}
