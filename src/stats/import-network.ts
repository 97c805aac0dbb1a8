/**
 * What publishers earned in other networks, from those networks' reports (economics 4).
 *
 * An import replaces whole partitions (network, account, day): reports of the last days change
 * until a network locks them. The same rows again change nothing. Rows belong to the publisher
 * that their sub id, being a click id of ours, or their own column names.
 */
import { createHash } from 'node:crypto'
import { toMicros } from '../attribution/currency.ts'
import type { IntakeDeps } from '../attribution/intake.ts'
import { findRates } from '../attribution/rate-store.ts'
import { appendMoney } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { readCsv } from '../platform/csv.ts'
import type { NetworkBody, NetworkPartitionBody, NetworkRowBody } from './fold-networks.ts'
import { findColumns, type NetworkMap } from './network-map.ts'
import {
  findArticlesByKeys,
  findClickOwners,
  findPartitions,
  findPublishersBySlugs,
  type RowOwner,
} from './network-store.ts'
import { type ReadRow, type RowRejection, readNetworkRow } from './read-network-row.ts'

/** The millionths in which amounts are read: six decimals of any currency. */
const MILLIONTHS_EXPONENT = 6
const EVENTS_PER_APPEND = 500

export interface NetworkImport {
  readonly rows: number
  readonly imported: number
  readonly unchanged: number // of the imported: shown already, exactly like this
  readonly rejected: number
  readonly reasons: Readonly<Record<string, number>>
  readonly rejects: readonly { readonly line: number; readonly reason: RowRejection }[]
}

export interface NetworkFile {
  readonly network: string
  readonly map: NetworkMap
  readonly text: string
}

/** Imports a report. Throws a 400 when the file lacks a column that is needed. */
export async function importNetwork(deps: IntakeDeps, file: NetworkFile): Promise<NetworkImport> {
  const table = readCsv(file.text)
  const columns = findColumns(file.map, table)
  const read = table.rows.map((row) => ({ line: row.line, row: readNetworkRow(row, columns) }))
  const settled = await settleRows(
    deps,
    read.flatMap(({ line, row }) => (typeof row === 'string' ? [] : [{ line, row }])),
  )
  const rejects = [
    ...read.flatMap(({ line, row }) => (typeof row === 'string' ? [{ line, reason: row }] : [])),
    ...settled.flatMap((item) => ('reason' in item ? [item] : [])),
  ].sort((a, b) => a.line - b.line)
  const good = settled.flatMap((item) => ('owner' in item ? [item] : []))
  const unchanged = await appendPartitions(deps, file.network, good)
  return {
    rows: table.rows.length,
    imported: good.length,
    unchanged,
    rejected: rejects.length,
    reasons: Object.fromEntries(
      [...Map.groupBy(rejects, ({ reason }) => reason)].map(([reason, all]) => [
        reason,
        all.length,
      ]),
    ),
    rejects,
  }
}

interface SettledRow {
  readonly row: ReadRow
  readonly owner: RowOwner
  readonly revenueMicros: number
  readonly earningsMicros: number
}

type Settled = SettledRow | { readonly line: number; readonly reason: RowRejection }

/** Finds whose each row is and what it is worth in dollars. */
async function settleRows(
  deps: IntakeDeps,
  rows: readonly { readonly line: number; readonly row: ReadRow }[],
): Promise<Settled[]> {
  const rateOf = await findRates(
    deps.db,
    rows.map(({ row }) => row),
  )
  const ownerOf = await findOwners(
    deps,
    rows.map(({ row }) => row),
  )
  return rows.map(({ line, row }): Settled => {
    const owner = ownerOf(row)
    if (owner === null) return { line, reason: 'publisher_unknown' }
    const rate = rateOf(row)
    if (rate === null) return { line, reason: 'rate_missing' }
    const revenueMicros = toMicros(row.revenueMillionths, MILLIONTHS_EXPONENT, rate)
    const earningsMicros = toMicros(row.earningsMillionths, MILLIONTHS_EXPONENT, rate)
    if (revenueMicros === null || earningsMicros === null) {
      return { line, reason: 'amount_unreadable' }
    }
    return { row, owner, revenueMicros, earningsMicros }
  })
}

/** By click id first: it names the article too. */
async function findOwners(
  { db }: IntakeDeps,
  rows: readonly ReadRow[],
): Promise<(row: ReadRow) => RowOwner | null> {
  const clicks = await findClickOwners(db, [
    ...new Set(rows.flatMap(({ clickId }) => clickId ?? [])),
  ])
  const slugs = [...new Set(rows.flatMap(({ slug }) => slug ?? []))]
  const publishers = await findPublishersBySlugs(db, slugs)
  const articles = await findArticlesByKeys(
    db,
    rows.flatMap(({ slug, urlKey }) => {
      const pubId = publishers.get(slug ?? '')
      return pubId === undefined || urlKey === null ? [] : [{ pubId, urlKey }]
    }),
  )
  return ({ clickId, slug, urlKey }) => {
    const clicked = clicks.get(clickId ?? '')
    if (clicked !== undefined) return clicked
    const pubId = publishers.get(slug ?? '')
    if (pubId === undefined) return null
    return { pubId, articleId: articles.get(`${pubId} ${urlKey?.toString('hex')}`) ?? 0 }
  }
}

/** Appends the partitions that differ from what is shown; how many rows the others have. */
async function appendPartitions(
  deps: IntakeDeps,
  network: string,
  rows: readonly SettledRow[],
): Promise<number> {
  const days = [...new Set(rows.map(({ row }) => row.day))]
  const shown = await findPartitions(deps.db, { network, days })
  let unchanged = 0
  for (const [key, ofPartition] of Map.groupBy(rows, ({ row }) => `${row.account} ${row.day}`)) {
    const { account = '', day = '' } = ofPartition[0]?.row ?? {}
    const bodies = rowBodies(ofPartition, deps.nextId())
    const hash = createHash('sha256')
    for (const { body, pubId } of bodies) {
      hash.update(JSON.stringify({ ...body, import_id: 0, pub_id: pubId })).update('\n')
    }
    const rowsHash = hash.digest('hex')
    if (shown.get(key) === rowsHash) {
      unchanged += ofPartition.length
      continue
    }
    const end: NetworkPartitionBody = {
      kind: 'partition',
      import_id: bodies[0]?.body.import_id ?? '0',
      network,
      account,
      report_date: day,
      rows: bodies.length,
      rows_hash: rowsHash,
    }
    await append(deps, [...bodies, { body: end, pubId: null }])
  }
  return unchanged
}

/** Rows of one order are one sale, or one taken back. */
function rowBodies(
  rows: readonly SettledRow[],
  importId: string,
): { readonly body: NetworkRowBody; readonly pubId: number }[] {
  const counted = new Set<string>()
  return rows.map(({ row, owner, revenueMicros, earningsMicros }, index) => {
    const worth = Math.sign(revenueMicros || earningsMicros)
    const order = `${row.orderId ?? `row ${index}`} ${worth}`
    const sales = row.sales ?? (counted.has(order) ? 0 : worth)
    counted.add(order)
    return {
      pubId: owner.pubId,
      body: {
        kind: 'row',
        import_id: importId,
        row: index,
        report_date: row.day,
        article_id: owner.articleId,
        advertiser: row.advertiser,
        clicks: row.clicks,
        sales,
        revenue_micros: revenueMicros,
        earnings_micros: earningsMicros,
      },
    }
  })
}

async function append(
  deps: IntakeDeps,
  bodies: readonly { readonly body: NetworkBody; readonly pubId: number | null }[],
): Promise<void> {
  for (let start = 0; start < bodies.length; start += EVENTS_PER_APPEND) {
    const batch = bodies.slice(start, start + EVENTS_PER_APPEND)
    await appendMoney(deps, EVENT_TYPE.networkRow, batch)
  }
}
