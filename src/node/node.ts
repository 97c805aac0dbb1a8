/**
 * One running node: everything its roles share, opened in order and closed in reverse.
 *
 * Everything that can fail at the start fails here, before a port is open. Later the node serves
 * what it can while dependencies are away.
 */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { AuctionTotalsLoop } from '../auction/auction-totals-loop.ts'
import { Destinations } from '../auction/destinations.ts'
import { Edge } from '../auction/edge.ts'
import { ReceiptQueue } from '../auction/receipt-queue.ts'
import { RESULT_AGE_MAX_MS, Sealer } from '../auction/seal.ts'
import { leaseCloseBody } from '../budgets/book-spend.ts'
import { LeaseBook } from '../budgets/lease.ts'
import { LeaseLoop } from '../budgets/lease-loop.ts'
import { LEASE_SKEW_MS } from '../budgets/lease-terms.ts'
import { PacingBook } from '../budgets/pacing-book.ts'
import { DurableAppend } from '../events/durable-append.ts'
import { EVENT_TYPE, MONEY_LANE, newEvent } from '../events/event.ts'
import type { EventLog } from '../events/event-log.ts'
import { HASH_KEYS_REFRESH_MS, HashKeys } from '../events/hash-keys.ts'
import { startPartitionUpkeep } from '../events/partitions.ts'
import { UnattributedCounts } from '../links/unattributed-counts.ts'
import { startPoller } from '../platform/concurrency/poller.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { type IdSource, makeIdSource } from '../platform/ids.ts'
import { type Geo, openGeo } from '../platform/net/geo.ts'
import { msApart } from '../platform/postgres/database-clock.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import {
  claimNode,
  listKeyGaps,
  listLostKeys,
  type NodeClaim,
  type NodeIdentity,
  readInstallation,
  readSpoolOwner,
  recordSpoolDrained,
  spoolOwner,
} from '../platform/postgres/node-registry.ts'
import { type Database, openDatabase } from '../platform/postgres/postgres.ts'
import { errorLogger, type Logger } from '../platform/process/log.ts'
import { openSpool } from '../platform/spool/spool.ts'
import { ClickEstimates } from '../prediction/click-estimates.ts'
import { type Config, knowsCountries, type SealingKey, sharedSettings } from './config.ts'
import { spoolFolder } from './data-folder.ts'
import { type Metrics, makeMetrics } from './metrics.ts'
import { openEventLog } from './open-event-log.ts'
import { MIGRATIONS_FOLDER, openStorage } from './open-storage.ts'
import { keyFingerprints, LOST_KEY, ownSealingKeys } from './sealing-keys.ts'
import { type NodeQuotas, openStorageQuotas } from './storage-quotas.ts'

/**
 * Connections for readers and the node itself: uncached links, the market, budgets, receipts.
 * Reports and orders use none of these.
 */
const EDGE_CONNECTIONS_MAX = 6
/** The spool's limit while the log is away: hours of a small network's traffic. */
const SPOOL_BYTES_MAX = 2 * 1024 ** 3
/** A wrong clock books clicks on wrong days, so it must be noticed soon. */
const CLOCK_CHECK_MS = 60_000

/** The size of a receipt's row without the packed data, with its indexes. */
const RECEIPT_ROW_BYTES = 200

export interface Node {
  readonly config: Config
  readonly log: Logger
  readonly now: () => number
  readonly database: Database
  /** The same database, with connections reserved for readers and the node itself. */
  readonly edgeDatabase: Database
  readonly metrics: Metrics
  readonly ids: IdSource
  readonly geo: Geo
  readonly hashKeys: HashKeys
  readonly sealingKeys: readonly SealingKey[]
  readonly sealer: Sealer
  readonly eventLog: EventLog
  readonly appender: Pick<DurableAppend, 'append' | 'isLogUnreachable' | 'isSpoolEmpty'>
  /** False once another process has this node's number. Then this process must be replaced. */
  readonly isHeld: () => boolean
  readonly book: LeaseBook
  /** Requests budget for a click that the node's lease cannot pay. */
  readonly fund: LeaseLoop['fund']
  /** Resolves when budgets held by stopped nodes are available here. */
  readonly whenFreed: LeaseLoop['whenFreed']
  readonly estimates: ClickEstimates
  readonly edge: Edge
  readonly destinations: Destinations
  /** What anonymous clients may still make this node store. */
  readonly quotas: NodeQuotas
  /** Wrapper redirects that name no known publisher. */
  readonly unattributed: UnattributedCounts
  close(): Promise<void>
}

export interface NodeOptions {
  readonly log: Logger
  /** The clock; only tests and replays pass another one. */
  readonly now?: () => number
}

export async function openNode(config: Config, options: NodeOptions): Promise<Node> {
  const { log, now = Date.now } = options
  const closers = new Closers(log)
  try {
    return await openParts(config, { log, now, closers })
  } catch (error) {
    await closers.close()
    throw error
  }
}

interface Opening {
  readonly log: Logger
  readonly now: () => number
  readonly closers: Closers
}

async function openParts(config: Config, opening: Opening): Promise<Node> {
  const { log, now } = opening
  const geo = await openGeo({
    header: config.geoHeader,
    database: config.geoipDb,
    onError: errorLogger(log, 'GEOIP_DB is damaged'),
  })
  opening.closers.add('geo', async () => geo.close())
  const database = await openMigrated(config, opening)
  const metrics = makeMetrics({ db: database, now, isWorker: config.roles.has('worker') })
  const edgeDatabase = openEdgeDatabase(database, opening)
  const quotas = await openQuotas(config, opening, { database, metrics })
  const hashKeys = await openUpkeep(database, opening)
  const book = new LeaseBook()
  const sealingKeys = await ownSealingKeys(config)
  const recording = await openLog(config, opening, { edgeDatabase, metrics, book, sealingKeys })
  const estimates = new ClickEstimates()
  const { claim } = recording
  const parts = { edgeDatabase, book, metrics, estimates, quotas, geo, claim }
  const { edge, fund, whenFreed } = await openEdge(config, opening, parts)
  await warnOfMissingKeys(database, log)
  return {
    config,
    log,
    now,
    database,
    edgeDatabase,
    metrics,
    ids: recording.ids,
    geo,
    hashKeys,
    sealingKeys,
    sealer: new Sealer(sealingKeys),
    eventLog: recording.eventLog,
    appender: recording.appender,
    isHeld: () => recording.claim.isHeld(),
    book,
    fund,
    whenFreed,
    estimates,
    edge,
    destinations: await openDestinations(config, opening),
    quotas,
    unattributed: openUnattributed(opening, { edgeDatabase, metrics }),
    close: () => opening.closers.close(),
  }
}

/** Readers are still served: a node without a key redirects them. */
async function warnOfMissingKeys(database: Database, log: Logger): Promise<void> {
  for (const gap of await listKeyGaps(database)) log.warn(gap, 'the reader lacks the signer’s key')
  const [lost] = await listLostKeys(database, RESULT_AGE_MAX_MS)
  if (lost !== undefined) log.warn(lost, `the reader lacks the ended signer’s key: ${LOST_KEY}`)
}

async function openMigrated(config: Config, { log, closers }: Opening): Promise<Database> {
  const storage = await openStorage(config, { applicationName: 'souk', log })
  closers.add('storage', () => storage.close())
  const logWait = (line: string) => log.warn(line)
  const { from, to } = await migrate(storage.connection, MIGRATIONS_FOLDER, logWait)
  if (from < to) log.info({ from, to }, 'migrated')
  return storage.db
}

async function openQuotas(
  config: Config,
  { now, log, closers }: Opening,
  { database, metrics }: Pick<Node, 'database' | 'metrics'>,
): Promise<NodeQuotas> {
  const onError = errorLogger(log, 'storage quotas not exchanged')
  const opened = await openStorageQuotas(database, { config, metrics, now, onError })
  closers.add('storage quotas', opened.close)
  return opened.quotas
}

function openUnattributed(
  { now, log, closers }: Opening,
  { edgeDatabase: db, metrics }: Pick<Node, 'edgeDatabase' | 'metrics'>,
): UnattributedCounts {
  const counts = new UnattributedCounts({
    ...{ db, now },
    onCounted: () => metrics.unattributedRedirects.inc(),
    onError: errorLogger(log, 'unattributed redirects not written'),
  })
  closers.add('unattributed redirects', () => counts.close())
  return counts
}

function openEdgeDatabase({ connection }: Database, { closers }: Opening): Database {
  const connectionsMax = EDGE_CONNECTIONS_MAX
  const edgeDatabase = openDatabase({ connection, applicationName: 'souk: edge', connectionsMax })
  closers.add('edge database', () => edgeDatabase.close())
  return edgeDatabase
}

/** Resources that must exist in advance: keys of hashes, and partitions of the log. */
async function openUpkeep(database: Database, opening: Opening): Promise<HashKeys> {
  const { now, log, closers } = opening
  const hashKeys = new HashKeys(database)
  await hashKeys.refresh(now())
  const refresh = startPoller(() => hashKeys.refresh(now()), {
    everyMs: HASH_KEYS_REFRESH_MS,
    onError: errorLogger(log, 'hash keys not refreshed'),
  })
  closers.add('hash keys', async () => clearInterval(refresh))
  const upkeep = { db: database, now, onError: errorLogger(log, 'partitions') }
  const partitions = await startPartitionUpkeep(upkeep)
  closers.add('partitions', async () => clearInterval(partitions))
  await checkClock(database, opening)
  const clock = startPoller(() => checkClock(database, opening), {
    everyMs: CLOCK_CHECK_MS,
    onError: errorLogger(log, 'clock not compared'),
  })
  closers.add('clock', async () => clearInterval(clock))
  return hashKeys
}

/** Logs if the clock differs by more than leases allow. Only this machine's operator can fix it. */
async function checkClock(db: Database, { now, log }: Opening): Promise<void> {
  const apartMs = await msApart(db, now)
  if (Math.abs(apartMs) < LEASE_SKEW_MS) return
  const apart = `${Math.round(Math.abs(apartMs) / 1000)} s ${apartMs > 0 ? 'ahead of' : 'behind'}`
  log.warn(`this machine’s clock is ${apart} the database’s: synchronise the clocks`)
}

/** The log, its spool, and the node number under which this process writes to both. */
async function openLog(
  config: Config,
  opening: Opening,
  parts: Pick<Node, 'edgeDatabase' | 'metrics' | 'book' | 'sealingKeys'>,
) {
  const { edgeDatabase, metrics, book } = parts
  const { log, now, closers } = opening
  const onProblem = errorLogger(log, 'event log')
  const eventLog = await openEventLog(config, edgeDatabase, onProblem)
  closers.add('event log', () => eventLog.close())
  const installation = await readInstallation(edgeDatabase)
  const spool = await openSpool({
    root: spoolFolder(config),
    bytesMax: SPOOL_BYTES_MAX,
    isOurs: (owner) => (readSpoolOwner(owner)?.installation ?? installation) === installation,
    onDamage: (problem) => log.error({ problem }, 'trouble with the spool'),
  })
  closers.add('spool', () => spool.close())
  if (spool.hasForeign()) throw foreignSpool(config)
  const claim = await claimNode({
    db: edgeDatabase,
    host: hostname(),
    pid: process.pid,
    roles: [...config.roles].join(','),
    knowsCountries: knowsCountries(config),
    keyFingerprints: keyFingerprints(parts.sealingKeys),
    settings: sharedSettings(config),
    onLost: () => book.stopSpending(now()),
    onError: errorLogger(log, 'heartbeat failed'),
  })
  closers.add('node number', () => claim.release({ isSpoolEmpty: spool.isEmpty() }))
  const ids = makeIdSource({ nodeId: claim.nodeId, now })
  const lastWord = (of: NodeIdentity) => {
    const { leaseClose: type } = EVENT_TYPE
    const body = leaseCloseBody(of)
    return newEvent({ id: ids.next(), atMs: now(), lane: MONEY_LANE, type, body })
  }
  await spool.recordOwner(spoolOwner(claim, installation))
  const appender = new DurableAppend({
    log: eventLog,
    spool,
    counters: metrics.append,
    isAccepting: () => claim.isHeld(),
    onLogState: ({ isUnreachable, error }) => {
      if (isUnreachable) log.warn({ err: error }, 'the event log is away')
      else log.info('the event log is back')
    },
    onProblem,
    onAdoptedDrained: async (owner) => {
      const ended = readSpoolOwner(owner)
      if (ended === null) return
      await eventLog.append([lastWord(ended)])
      await recordSpoolDrained(edgeDatabase, ended)
    },
  })
  closers.add('appender', () => appender.close(lastWord(claim)))
  return { eventLog, claim, ids, appender }
}

/** Draining it would remove paid clicks from their own network and add them to this one. */
function foreignSpool(config: Config): Refusal {
  const [which, fix] =
    config.databaseUrl === null
      ? ['that of SOUK_DATA', 'set DATABASE_URL, or restore it']
      : ['that of DATABASE_URL', 'name the one they belong to']
  return new Refusal(
    `${spoolFolder(config)} holds events of another database than ${which}: ${fix}; ` +
      'or move that folder away, if they are not to be recorded',
  )
}

async function openEdge(
  config: Config,
  opening: Opening,
  parts: Pick<Node, 'edgeDatabase' | 'metrics' | 'book' | 'estimates' | 'quotas' | 'geo'> & {
    claim: NodeClaim
  },
): Promise<Pick<Node, 'edge' | 'fund' | 'whenFreed'>> {
  const { now, log, closers } = opening
  const { edgeDatabase, metrics, book, estimates, quotas, geo } = parts
  const receipts = new ReceiptQueue({
    db: edgeDatabase,
    onDropped: (count) => metrics.receiptsDropped.inc(count),
    onError: errorLogger(log, 'receipts not written'),
  })
  closers.add('receipts', () => receipts.close())
  const totals = new AuctionTotalsLoop({
    db: edgeDatabase,
    identity: parts.claim,
    onError: errorLogger(log, 'totals of auctions not written'),
  })
  closers.add('auction totals', () => totals.close())
  const pacing = new PacingBook()
  const edge = await Edge.open({
    database: edgeDatabase,
    book,
    estimates,
    pacing,
    geo,
    pricing: config.pricing,
    now,
    onReceipt: (receipt, address) => {
      const bytes = RECEIPT_ROW_BYTES + receipt.packed.length
      const wanted = { address, organizationId: receipt.pubId, rows: 1, bytes }
      if (quotas.take('receipts', wanted)) receipts.push(receipt)
    },
    onCounted: (auction) => totals.count(auction),
    onError: errorLogger(log, 'edge'),
  })
  closers.add('edge', () => edge.close())
  // Without the role `edge` there are no clicks.
  if (!config.roles.has('edge')) {
    return { edge, fund: async () => undefined, whenFreed: async () => undefined }
  }
  const leases = new LeaseLoop({
    ...{ book, db: edgeDatabase, identity: parts.claim, now },
    onError: errorLogger(log, 'leases'),
    onGrants: (grants) => pacing.noteSpent(grants, now()),
  })
  closers.add('leases', () => leases.close())
  // Otherwise the first clicks would find every budget exhausted.
  await leases.firstAnswer
  return { edge, fund: leases.fund.bind(leases), whenFreed: leases.whenFreed.bind(leases) }
}

async function openDestinations(config: Config, { log, closers }: Opening): Promise<Destinations> {
  const path = join(config.dataDir, 'destinations.tsv')
  const destinations = new Destinations(path, errorLogger(log, 'destinations'))
  await destinations.open()
  closers.add('destinations', () => destinations.close())
  return destinations
}

/** Closes in reverse order. A failure does not keep the others open. */
class Closers {
  readonly #log: Logger
  #open: { readonly name: string; readonly close: () => Promise<void> }[] = []

  constructor(log: Logger) {
    this.#log = log
  }

  add(name: string, close: () => Promise<void>): void {
    this.#open.push({ name, close })
  }

  async close(): Promise<void> {
    const open = this.#open.reverse()
    this.#open = []
    for (const { name, close } of open) {
      try {
        await close()
      } catch (error) {
        this.#log.error({ err: error }, `${name} did not close`)
      }
    }
  }
}
