/**
 * Publishers' earnings in other networks, from those networks' reports (docs/spec/networks.md).
 *
 * The lines of one account on one day are a partition. An import reads the partitions that its file
 * touches, replaces the lines that the file contains, and appends the changed partitions as a
 * whole. The same file again changes nothing.
 */
import { createHash } from 'node:crypto'
import { moneyEvents } from '../events/append-money.ts'
import { EVENT_TYPE, type LogEvent } from '../events/event.ts'
import type { NetworkBody, NetworkPartitionBody, NetworkRowBody } from '../fold/fold-networks.ts'
import { formatMinor, toMicros } from '../orders/currency.ts'
import type { IntakeDeps } from '../orders/intake.ts'
import { findRates } from '../orders/rate-store.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { type FileLine, mergeLines, type NetworkLine, partitionOf } from './merge-network-lines.ts'
import type { NetworkMap } from './network-map.ts'
import {
  findArticlesByKeys,
  findClickOwners,
  findPublishersBySlugs,
  findShownLines,
  findShownPartitions,
  isImportWaiting,
  type RowOwner,
  type ShownLine,
} from './network-store.ts'
import { readNetworkReport } from './read-network-report.ts'
import type { ReadRow, RejectedRow, RowRejection, StatedAmount } from './read-network-row.ts'

/** The millionths in which amounts are read: six decimals of any currency. */
const MILLIONTHS_EXPONENT = 6

export interface NetworkImport {
  readonly rows: number
  readonly imported: number
  /** Of the imported lines: already stored, exactly like this. */
  readonly unchanged: number
  /** Declined by the network: they count nothing, and remove what they had counted. */
  readonly declined: number
  readonly rejected: number
  readonly reasons: Readonly<Record<string, number>>
  readonly read_as: ReadAs
  readonly rejects: readonly RejectedRow[]
}

/** What was decided for the whole file, for the operator to check. */
export interface ReadAs {
  readonly date_order: string
  /** Null: no amount proves it, and the map does not name it. */
  readonly decimal_separator: string | null
  /** Lines by the currency of their earnings. */
  readonly currencies: Readonly<Record<string, number>>
}

/** Appends what a file changes, or nothing of it. */
export type AppendNetwork = (events: readonly LogEvent[], imported: NetworkImport) => Promise<void>

export interface NetworkFile {
  readonly network: string
  readonly map: NetworkMap
  readonly text: string
  /** The file contains all lines of its days. Stored lines that it lacks are removed. */
  readonly replacesDays?: boolean
}

/**
 * Imports a report. Throws a 400 when the file as a whole is unreadable, or when stored lines of
 * its days would vanish.
 */
export async function importNetwork(
  deps: IntakeDeps,
  file: NetworkFile,
  append: AppendNetwork,
): Promise<NetworkImport> {
  const read = readNetworkReport(file.text, file.map)
  if (await isImportWaiting(deps.db)) {
    throw badRequest([
      { field: 'network', rule: 'an earlier import is not folded yet; try again in a minute' },
    ])
  }
  const rows = read.rows.map(({ row }) => row)
  const stored = await findShownLines(deps.db, { network: file.network, rows })
  const resolved = await resolveRows(deps, read.rows, stored)
  const lines = resolved.flatMap((item) => ('reason' in item ? [] : [item]))
  const rejected = [
    ...read.rejected,
    ...resolved.flatMap((item) => ('reason' in item ? [item] : [])),
  ].sort((a, b) => a.line - b.line)
  const { kept, missing } = mergeLines({
    stored,
    lines,
    rejected: rejected.flatMap(({ names }) => names ?? []),
    isMergeable: rows.some((row) => row.transactionId !== null || row.posted !== null),
    replacesDays: file.replacesDays ?? false,
  })
  if (missing.length > 0) throw missingLines(missing, stored)
  const counted = lines.filter(({ isDeclined }) => !isDeclined)
  const lists = { stored, kept, lines: counted }
  const { changed, newEvents } = await changePartitions(deps, file.network, lists)
  const imported = {
    rows: read.rows.length + read.rejected.length,
    imported: counted.length,
    unchanged: counted.filter((line) => !changed.has(partitionOf(line))).length,
    declined: lines.length - counted.length,
    rejected: rejected.length,
    reasons: countOf(rejected.map(({ reason }) => reason)),
    read_as: {
      date_order: read.dateOrder,
      decimal_separator: read.decimal,
      currencies: countOf(rows.map(({ earnings }) => earnings.currency)),
    },
    rejects: rejected.map(({ names: _, ...reject }) => reject),
  }
  await append(moneyEvents(deps, EVENT_TYPE.networkRow, newEvents), imported)
  return imported
}

function countOf(words: readonly string[]): Record<string, number> {
  const byWord = Map.groupBy(words, (word) => word)
  return Object.fromEntries([...byWord].map(([word, all]) => [word, all.length]))
}

/** A longer list would not help. */
const DAYS_NAMED_MAX = 100

function missingLines(missing: readonly NetworkLine[], stored: readonly NetworkLine[]) {
  const linesOf = (day: string, lines: readonly NetworkLine[]) =>
    lines.filter((line) => line.day === day).length
  const days = [...new Set(missing.map(({ day }) => day))].sort()
  return badRequest(
    days.slice(0, DAYS_NAMED_MAX).map((day) => ({
      field: day,
      rule:
        `${linesOf(day, missing)} of the ${linesOf(day, stored)} lines stored for this day are ` +
        'not in the file, and it has no transaction ids to merge by; import a report of the ' +
        'whole day, or give --replace-days to remove them',
    })),
  )
}

type ResolvedRow = FileLine | RejectedRow

/** Finds the owner of each row, and its value in dollars. */
async function resolveRows(
  deps: IntakeDeps,
  rows: readonly { readonly line: number; readonly row: ReadRow }[],
  stored: readonly ShownLine[],
): Promise<ResolvedRow[]> {
  const amounts = rows.flatMap(({ row: { day, revenue, earnings } }) => [
    { day, currency: revenue.currency },
    { day, currency: earnings.currency },
  ])
  const rateOf = await findRates(deps.db, amounts)
  const ownerOf = await findOwners(
    deps,
    rows.map(({ row }) => row),
    stored,
  )
  return rows.map(({ line, row }): ResolvedRow => {
    const reject = (reason: RowRejection, detail: string | null = null): RejectedRow => {
      return { line, reason, column: null, value: null, detail, names: row }
    }
    const owner = ownerOf(row)
    if (owner === null) return reject('publisher_unknown', namedOwner(row))
    const micros: number[] = []
    for (const { millionths, currency } of [row.revenue, row.earnings]) {
      const rate = millionths === 0n ? ZERO_RATE : rateOf({ day: row.day, currency })
      if (rate === null) return reject('rate_missing', `no rate of ${currency} for ${row.day}`)
      const worth = toMicros(millionths, MILLIONTHS_EXPONENT, rate)
      if (worth === null) return reject('amount_unreadable', 'the amount is too large')
      micros.push(worth)
    }
    const [revenueMicros = 0, earningsMicros = 0] = micros
    return {
      ...fileLine(row, owner),
      revenueMicros,
      earningsMicros,
    }
  })
}

/** Zero is zero in every currency. */
const ZERO_RATE = { usdPerBase: '1', currencyPerBase: '1' }

function fileLine(row: ReadRow, owner: RowOwner): FileLine {
  const { transactionId, originalId, orderId, item, posted, account, day, advertiser } = row
  return {
    ...{ transactionId, originalId, orderId, item, posted, account, day, advertiser },
    ...owner,
    isDeclined: row.status === 'declined',
    clicks: row.clicks,
    sales: row.sales ?? 0,
    areSalesReported: row.sales !== null,
    amounts: `${stated(row.revenue)}, ${stated(row.earnings)}`,
    revenueMicros: 0,
    earningsMicros: 0,
  }
}

/** `-10.5 EUR` */
function stated({ millionths, currency }: StatedAmount): string {
  const digits = formatMinor(millionths < 0n ? -millionths : millionths, MILLIONTHS_EXPONENT)
  const short = digits.replace(/\.?0+$/, '')
  return `${millionths < 0n ? '-' : ''}${short} ${currency}`
}

function namedOwner({ clickId, slug }: ReadRow): string {
  if (clickId !== null) return `no click has the id ${clickId}`
  if (slug !== null) return `no publisher has the slug ${slug}`
  return 'no sub id of the line is a click id, and no stored line is of its transaction or order'
}

/**
 * By click id first, which also names the article. Then a correction follows the line it corrects.
 */
async function findOwners(
  { db }: IntakeDeps,
  rows: readonly ReadRow[],
  stored: readonly ShownLine[],
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
  const ownOwner = ({ clickId, slug, urlKey }: ReadRow): RowOwner | null => {
    const clicked = clicks.get(clickId ?? '')
    if (clicked !== undefined) return clicked
    const pubId = publishers.get(slug ?? '')
    if (pubId === undefined) return null
    return { pubId, articleId: articles.get(`${pubId} ${urlKey?.toString('hex')}`) ?? 0 }
  }
  const followed = new Map<string, RowOwner>()
  for (const row of rows) {
    const owner = ownOwner(row)
    if (owner === null) continue
    for (const key of ownKeys(row)) if (!followed.has(key)) followed.set(key, owner)
  }
  for (const { pubId, articleId, ...line } of stored) {
    for (const key of ownKeys(line)) {
      if (!followed.has(key)) followed.set(key, { pubId, articleId })
    }
  }
  return (row) => {
    const owner = ownOwner(row)
    if (owner !== null) return owner
    const key = correctedKeys(row).find((name) => followed.has(name))
    return followed.get(key ?? '') ?? null
  }
}

type Named = Pick<ReadRow, 'transactionId' | 'originalId' | 'orderId' | 'advertiser'>

/** The names by which other lines may refer to this one. */
function ownKeys({ transactionId, originalId, orderId, advertiser }: Named): string[] {
  const keys: string[] = []
  if (transactionId !== null) keys.push(`transaction ${transactionId}`)
  if (originalId !== null) keys.push(`original ${originalId}`)
  if (orderId !== null) {
    keys.push(`order ${orderId} of ${advertiser?.toLowerCase() ?? ''}`, `order ${orderId}`)
  }
  return keys
}

/** The names by which this line may refer to another, the most certain first. */
function correctedKeys({ transactionId, originalId, orderId, advertiser }: Named): string[] {
  const keys = ownKeys({ transactionId, originalId: null, orderId: null, advertiser })
  if (originalId !== null) keys.push(`transaction ${originalId}`, `original ${originalId}`)
  if (orderId === null) return keys
  // Shops number their orders, so the number alone suffices only without a shop.
  const order =
    advertiser === null ? `order ${orderId}` : `order ${orderId} of ${advertiser.toLowerCase()}`
  return [...keys, order]
}

interface PartitionLines {
  readonly stored: readonly ShownLine[]
  readonly kept: readonly NetworkLine[]
  readonly lines: readonly NetworkLine[]
}

/** The partitions that change, and their new content. */
async function changePartitions(
  deps: IntakeDeps,
  network: string,
  { stored, kept, lines }: PartitionLines,
): Promise<{ readonly changed: ReadonlySet<string>; readonly newEvents: readonly NetworkEvent[] }> {
  const changed = new Set<string>()
  const newEvents: NetworkEvent[] = []
  const wanted = Map.groupBy([...kept, ...lines], partitionOf)
  const isKept = new Set<NetworkLine>(kept)
  const removed = stored.filter((line) => !isKept.has(line))
  const touched = new Map([...lines, ...removed].map((line) => [partitionOf(line), line]))
  const days = [...new Set([...touched.values()].map(({ day }) => day))]
  const shown = await findShownPartitions(deps.db, { network, days })
  for (const [key, { account, day }] of touched) {
    const bodies = rowBodies(wanted.get(key) ?? [], deps.nextId())
    const rowsHash = hashOf(bodies)
    if (shown.get(key) === rowsHash) continue
    changed.add(key)
    const end: NetworkPartitionBody = {
      kind: 'partition',
      import_id: bodies[0]?.body.import_id ?? deps.nextId(),
      network,
      account,
      report_date: day,
      rows: bodies.length,
      rows_hash: rowsHash,
    }
    newEvents.push(...bodies, { body: end, pubId: null })
  }
  return { changed, newEvents }
}

interface NetworkEvent {
  readonly body: NetworkBody
  readonly pubId: number | null
}

interface RowEvent {
  readonly body: NetworkRowBody
  readonly pubId: number
}

function hashOf(bodies: readonly RowEvent[]): string {
  const hash = createHash('sha256')
  for (const { body, pubId } of bodies) {
    hash.update(JSON.stringify({ ...body, import_id: 0, pub_id: pubId })).update('\n')
  }
  return hash.digest('hex')
}

/** Sorted by content, so that the order of imports does not matter. */
function rowBodies(lines: readonly NetworkLine[], importId: string): RowEvent[] {
  const bodies = lines.map((line) => ({ line, body: rowBody(line, importId) }))
  const placed = bodies.map((item) => ({ ...item, place: JSON.stringify(item.body) }))
  const sorted = placed.sort((a, b) => (a.place < b.place ? -1 : 1))
  const counted = new Set<string>()
  return sorted.map(({ line, body }, row) => {
    const sales = line.areSalesReported ? line.sales : derivedSales(line, row, counted)
    return { pubId: line.pubId, body: { ...body, row, sales } }
  })
}

function rowBody(line: NetworkLine, importId: string): NetworkRowBody {
  return {
    kind: 'row',
    import_id: importId,
    row: 0,
    report_date: line.day,
    article_id: line.articleId,
    advertiser: line.advertiser,
    clicks: line.clicks,
    sales: 0,
    revenue_micros: line.revenueMicros,
    earnings_micros: line.earningsMicros,
    transaction_id: line.transactionId,
    original_id: line.originalId,
    order_id: line.orderId,
    item: line.item,
    posted: line.posted,
    amounts: line.amounts,
    are_sales_reported: line.areSalesReported,
  }
}

/** Rows of one order count as one sale, or as one reversal. */
function derivedSales(line: NetworkLine, row: number, counted: Set<string>): number {
  const worth = Math.sign(line.revenueMicros || line.earningsMicros)
  const order = `${line.orderId ?? line.transactionId ?? `row ${row}`} ${worth}`
  if (counted.has(order)) return 0
  counted.add(order)
  return worth
}
