/**
 * Is all in place that the service stands on? Each check says what it saw: `souk doctor`, and the
 * health of the network by API.
 */
import { constants } from 'node:fs'
import { access, readdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { RESULT_AGE_MAX_MS } from '../auction/seal.ts'
import { LEASE_SKEW_MS } from '../budgets/lease-terms.ts'
import { locateChromium } from '../check-page/find-chromium.ts'
import { countBehind, listLanesBehind } from '../fold/lane-store.ts'
import { hasTrigrams } from '../matching/product-words-store.ts'
import type { Config } from '../node/config.ts'
import { spoolFolder } from '../node/data-folder.ts'
import { MIGRATIONS_FOLDER } from '../node/open-storage.ts'
import { knownSealingKeys, LOST_KEY } from '../node/sealing-keys.ts'
import { formatError } from '../platform/errors/format-error.ts'
import { listStoredBytes } from '../platform/limits/storage-quota-store.ts'
import { formatExact } from '../platform/money/money.ts'
import { isLocalAddress } from '../platform/net/client-address.ts'
import { msApart } from '../platform/postgres/database-clock.ts'
import { databaseFaults, readDatabaseFacts } from '../platform/postgres/database-faults.ts'
import { newestMigration, readVersion } from '../platform/postgres/migrate.ts'
import { listKeyGaps, listLostKeys, listSettingGaps } from '../platform/postgres/node-registry.ts'
import { type Database, isUnreachable } from '../platform/postgres/postgres.ts'
import { DAY_MS, formatTimestamp, utcDay } from '../platform/time/timestamp.ts'
import { latestReconciliation } from '../reconcile/reconciliation-store.ts'
import {
  bad,
  type Finding,
  good,
  type HealthContext,
  isMigrated,
  LAG_MAX_MS,
} from './health-finding.ts'
import { checkJetStream } from './health-jetstream.ts'
import {
  countLocalClicks,
  countServers,
  isAnyServerAlive,
  listAbandonedLeases,
  listLostFeeds,
  listLostOwners,
  listStaleHandFeeds,
  readConnectionsMax,
  readServerFacts,
  readUnfolded,
} from './health-store.ts'

export interface Health {
  readonly ok: boolean
  readonly checks: readonly Check[]
}

export interface Check extends Finding {
  readonly name: string
}

const GIB = 1024 ** 3
/** The spool may take 2 GiB while the log is away; below this the disk is the first to fail. */
const DISK_FREE_MIN = GIB
/** How many of those that wait are counted: a quarter of a second's look. */
const LAG_EVENTS_MAX = 100_000
/** Fails if the server does not answer. */
const STATEMENT_TIMEOUT_MS = 5_000
/** Of all its pools, listeners and threads together (docs/operations.md#your-own-database). */
const NODE_CONNECTIONS_MAX = 30
const COMMAND_CONNECTIONS_MAX = 4
const ANYBODY_ELSE = 0o077
/** A node that is restarted, or whose machine is, has long drained its spool by then. */
const LEASE_SILENT_SECONDS = 300
const LEASES_SHOWN = 5
const KEY_GAPS_SHOWN = 5
const LOST_SHOWN = 5

export async function checkHealth(asked: HealthContext): Promise<Health> {
  const { dataDir, natsUrl } = asked.config
  let unreached: unknown = null
  const database = await run('database', () =>
    checkDatabase(asked).catch((cause) => {
      if (isUnreachable(cause)) unreached = cause
      throw cause
    }),
  )
  // Who is silent is waited for once: each of the others would wait as long, and hear another word.
  const context: HealthContext =
    unreached === null ? asked : { ...asked, storage: () => Promise.reject(unreached) }
  const checks = [
    database,
    await run('migrations', async () => checkMigrations((await context.storage()).db)),
    await run('connections', () => ifMigrated(context, checkConnections)),
    await run('clock', async () => checkClock((await context.storage()).db)),
    await run('lag', () => ifMigrated(context, (db) => checkLag(db, context.now()))),
    await run('fold', () => ifMigrated(context, checkFold)),
    await run('reconciled', () => ifMigrated(context, (db) => checkReconciled(db, context.now()))),
    await run('feeds', () => ifMigrated(context, (db) => checkFeeds(db, context.now()))),
    await run('search', () => ifMigrated(context, checkSearch)),
    await run('leases', () => ifMigrated(context, checkLeases)),
    await run('keys', () => ifMigrated(context, checkKeys)),
    await run('settings', () => ifMigrated(context, checkSettings)),
    await run('quotas', () => ifMigrated(context, (db) => checkQuotas(db, context.now()))),
    await run('addresses', () => ifMigrated(context, (db) => checkAddresses(db, context))),
    await run('disk', () => checkDisk(dataDir)),
    await run('spool', () => checkSpool(context, spoolFolder(context.config))),
    await run('secrets', () => checkSecrets(context)),
    await run('browser', async () => checkBrowser(context.config)),
    ...(natsUrl === null ? [] : [await run('jetstream', () => checkJetStream(context, natsUrl))]),
  ]
  return { ok: checks.every(({ ok }) => ok), checks: withoutRepeats(checks) }
}

/** Why the database is not to be reached is one fault, however many checks meet it. */
function withoutRepeats(checks: readonly Check[]): readonly Check[] {
  const database = checks.find(({ name }) => name === 'database')
  return checks.map((check) =>
    check !== database && !check.ok && check.detail === database?.detail
      ? { ...check, detail: 'not looked at: see database' }
      : check,
  )
}

async function run(name: string, check: () => Promise<Finding>): Promise<Check> {
  try {
    return { name, ...(await check()) }
  } catch (error) {
    return { name, ok: false, detail: formatError(error) }
  }
}

async function checkDatabase(context: HealthContext): Promise<Finding> {
  const { db, connection } = await context.storage({ statementTimeoutMs: STATEMENT_TIMEOUT_MS })
  const faults = databaseFaults(await readDatabaseFacts(connection))
  if (faults.length > 0) return bad(faults.join('; '))
  const facts = await readServerFacts(db)
  const where = context.config.databaseUrl === null ? 'embedded' : 'DATABASE_URL'
  const settings = `fsync ${facts.fsync}, synchronous_commit ${facts.synchronous_commit}`
  const megabytes = Math.ceil(Number(facts.bytes) / 1024 ** 2)
  const seen = `PostgreSQL ${facts.version} (${where}), ${settings}, ${megabytes} MB`
  const isDurable = facts.fsync === 'on' && facts.synchronous_commit !== 'off'
  if (isDurable) return good(seen)
  const fix = 'a crash would lose paid clicks: set both to on for the server, its role and database'
  return bad(`${seen}: ${fix}`)
}

/** Queries of tables run only when their schema is the one this program knows. */
async function ifMigrated(
  { storage }: HealthContext,
  check: (db: Database) => Promise<Finding>,
): Promise<Finding> {
  const { db } = await storage()
  return (await isMigrated(db)) ? check(db) : good('not looked at: see migrations')
}

/** Not a fault: only a worker needs it, and only for one page of the dashboard. */
function checkBrowser({ allowPrivateFetch }: Config): Finding {
  const path = locateChromium()
  if (path === null) {
    return good('no Chromium here: install it on a worker so that publishers can check their pages')
  }
  if (process.getuid?.() === 0 && !allowPrivateFetch) {
    return good(
      `${path} does not start as root: run Souk as another user to let publishers check pages`,
    )
  }
  return good(`publishers can check their pages: ${path}`)
}

/** Not a fault: words that are spelt right are found either way. */
async function checkSearch(db: Database): Promise<Finding> {
  if (await hasTrigrams(db)) return good('product search with pg_trgm')
  const fix = 'install the extension to find misspelt words too'
  return good(`product search without pg_trgm, which this server lacks: ${fix}`)
}

async function checkMigrations(db: Database): Promise<Finding> {
  const newest = await newestMigration(MIGRATIONS_FOLDER)
  const version = await readVersion(db, MIGRATIONS_FOLDER)
  const detail = `at migration ${version} of ${newest}`
  if (version === newest) return good(detail)
  if (version === 0) return good('empty: the first start or command migrates it')
  return bad(`${detail}: run souk migrate, or the newer program`)
}

/** A node that gets fewer than it asks for answers its API with 503 when it is busiest. */
async function checkConnections(db: Database): Promise<Finding> {
  const allowed = await readConnectionsMax(db)
  const nodes = await countServers(db)
  const needed = Math.max(nodes, 1) * NODE_CONNECTIONS_MAX + COMMAND_CONNECTIONS_MAX
  const who = nodes > 1 ? `${nodes} nodes` : 'a node'
  const detail = `${allowed} are allowed, ${who} and a command take up to ${needed}`
  if (allowed >= needed) return good(detail)
  return bad(`${detail}: raise max_connections, or the limit of the role or database`)
}

/** Leases are safe while clocks differ by less than their skew (docs/spec/budgets.md#leases). */
async function checkClock(db: Database): Promise<Finding> {
  const differenceMs = Math.abs(await msApart(db, Date.now))
  const detail = `${differenceMs} ms from the database’s`
  if (differenceMs < LEASE_SKEW_MS) return good(detail)
  return bad(`${detail}, must be under ${LEASE_SKEW_MS}: synchronise the clocks`)
}

async function checkLag(db: Database, now: Date): Promise<Finding> {
  const behind = await listLanesBehind(db)
  if (behind.length === 0) return good('everything is folded')
  const oldest = Math.min(...behind.map(({ waiting_since }) => waiting_since.getTime()))
  const ageMs = Math.max(0, now.getTime() - oldest)
  const events = await countBehind(db, LAG_EVENTS_MAX)
  const many = `${events === LAG_EVENTS_MAX ? 'at least ' : ''}${events.toLocaleString('en')}`
  const detail =
    `events that are not folded yet: ${many}, ` +
    `the first since ${formatTimestamp(new Date(oldest))}`
  if (ageMs <= LAG_MAX_MS) return good(detail)
  // A stopped server's last words wait for the next start.
  if (!(await isAnyServerAlive(db))) return good(`${detail}: no server runs`)
  const fix = 'does a process with the role worker run? One that was away may be catching up'
  return bad(`${detail}: ${fix}`)
}

/** What was set aside is in the log, and in no figure until it folds. */
async function checkFold(db: Database): Promise<Finding> {
  const aside = await readUnfolded(db)
  if (aside === null) return good(`no event was set aside${await describeLostOwners(db)}`)
  const { events, day, error } = aside
  const detail =
    `${events} set aside, the first of ${day}: ${error}. Each start tries them again; until then ` +
    'souk reconcile says what the figures lack'
  return bad(detail)
}

/** Not a fault, but nobody else sees what a restored database has lost. */
async function describeLostOwners(db: Database): Promise<string> {
  const lost = await listLostOwners(db)
  if (lost.length === 0) return ''
  const more = lost.length > LOST_SHOWN ? ` and ${lost.length - LOST_SHOWN} more` : ''
  const who = `${lost.slice(0, LOST_SHOWN).join(', ')}${more}`
  return `; figures stand under ${who}, which the database has lost`
}

/** Every night checks the figures of the last days again; its findings stay until the next. */
async function checkReconciled(db: Database, now: Date): Promise<Finding> {
  const last = await latestReconciliation(db, now)
  if (last === null) return good('not yet: a worker does it every night')
  const { at, from_day, to_day, events, differences } = last
  const seen = `${formatTimestamp(at)}: ${events} events`
  if (differences === 0) return good(`${seen}, no difference`)
  const command = `souk reconcile --from ${from_day} --to ${to_day}`
  return bad(`${seen}, ${differences} differences: ${command} names them`)
}

/** A merchant whose feed could not be fetched for a day sells nothing. */
async function checkFeeds(db: Database, now: Date): Promise<Finding> {
  const lost = await listLostFeeds(db, now)
  const [first] = lost
  if (first === undefined) {
    const byHand = await describeHandFeeds(db, now)
    return good(`all that are fetched are of today${byHand}`)
  }
  const { merch_id, error } = first
  const why = `merchant ${merch_id}: ${error ?? 'no worker has tried'}`
  return bad(`${lost.length} could not be imported for a day; ${why}`)
}

/** Not a fault, as a feed may be ended on purpose; but a failing cron job notifies nobody. */
async function describeHandFeeds(db: Database, now: Date): Promise<string> {
  const stale = await listStaleHandFeeds(db, now)
  const [first] = stale
  if (first === undefined) return ''
  const which = `the first is of merchant ${first.merch_id}`
  return `; of ${stale.length} brought by hand no offer bids, being over a day old: ${which}`
}

/**
 * Draining a dead node's spool releases its leases. An unreadable spool may contain clicks that
 * readers were promised, so its leases count as spent for ever (docs/spec/budgets.md#leases): no
 * command frees them, only a larger budget.
 */
async function checkLeases(db: Database): Promise<Finding> {
  const held = await listAbandonedLeases(db, { silentSeconds: LEASE_SILENT_SECONDS })
  if (held.length === 0) return good('no dead node holds a part of a budget')
  const shown = held
    .slice(0, LEASES_SHOWN)
    .map((of) => `$${formatExact(of.micros)} of campaign ${of.campaign_id} (node ${of.node_id})`)
  const more = held.length > shown.length ? ` and ${held.length - shown.length} more` : ''
  const hosts = [...new Set(held.map(({ host }) => host))].join(', ')
  const detail =
    `dead nodes hold ${shown.join(', ')}${more}: start Souk on their SOUK_DATA (host ${hosts}), ` +
    'which brings their last clicks in and frees the rest; if that disk is lost the amounts stay ' +
    'counted as spent, and a budget raised by as much makes up for them'
  return { ok: !(await isAnyServerAlive(db)), detail }
}

/** Two nodes that each generated separate keys look fine alone, but their clicks are unpaid. */
async function checkKeys(db: Database): Promise<Finding> {
  const gaps = await listKeyGaps(db)
  const [lost] = gaps.length > 0 ? [] : await listLostKeys(db, RESULT_AGE_MAX_MS)
  if (lost !== undefined) {
    return bad(`${lost.reader} lacks the key of ${lost.signer}: ${LOST_KEY}`)
  }
  if (gaps.length === 0) return good('every edge that runs opens the others’ results')
  const missing = gaps.slice(0, KEY_GAPS_SHOWN).map((of) => `${of.reader} that of ${of.signer}`)
  const detail =
    `edges lack the key with which others sign: ${missing.join(', ')}. Clicks on such results are ` +
    'not paid: give all nodes the same SOUK_SECRETS, a new key at the end first'
  return bad(detail)
}

/** As with keys: what one node makes of its settings, another loses. */
async function checkSettings(db: Database): Promise<Finding> {
  const gaps = await listSettingGaps(db)
  if (gaps.length === 0) return good('all nodes that run agree')
  const lines = gaps.map(({ name, differences }) => `${name}: ${differences}`)
  const detail =
    `nodes are set differently: ${lines.join('. ')}. Clicks on one’s results may be unpaid at ` +
    'another, or events reach no figure: give all nodes the same'
  return bad(detail)
}

/** Events past a storage quota are counted and not stored (docs/spec/limits.md#storage). */
async function checkQuotas(db: Database, now: Date): Promise<Finding> {
  const yesterday = utcDay(now.getTime() - DAY_MS)
  const full = (await listStoredBytes(db, yesterday)).filter(({ leftOut }) => leftOut > 0)
  if (full.length === 0) return good('no row was left out since yesterday')
  const worst = full.toSorted((one, other) => other.leftOut - one.leftOut).slice(0, QUOTAS_SHOWN)
  const lines = worst.map(({ day, kind, organizationId, leftOut }) => {
    const whose = MERCHANT_KINDS.has(kind) ? 'merchant' : 'publisher'
    return `${leftOut} ${kind} of ${whose} ${organizationId} on ${day}`
  })
  const detail =
    `rows were counted and not stored: ${lines.join(', ')}. One address or the whole day used its ` +
    'quota up: a flood, or a proxy missing from TRUSTED_PROXIES that makes all readers look like one'
  return bad(detail)
}

const QUOTAS_SHOWN = 5
const MERCHANT_KINDS = new Set(['shop_views', 'orders', 'refused_orders', 'refused_signed_orders'])

/**
 * Paid clicks from addresses that no reader has. On a service whose own address is local they are
 * tests; on a public one, a proxy is missing from TRUSTED_PROXIES and hides its readers.
 */
async function checkAddresses(db: Database, { config, now }: HealthContext): Promise<Finding> {
  const clicks = await countLocalClicks(db, new Date(now().getTime() - DAY_MS))
  if (clicks === 0) return good('no paid click of the last 24 hours came from a local address')
  const detail =
    `${clicks} paid clicks of the last 24 hours came from loopback, private or link-local ` +
    'addresses, to which the rules by address do not apply'
  const host = new URL(config.linkUrl).hostname.replace(/^\[|\]$/g, '')
  if (/(?:^|\.)localhost$/.test(host) || isLocalAddress(host)) {
    return good(`${detail}: tests, as LINK_URL is local; else add your proxy to TRUSTED_PROXIES`)
  }
  return bad(`${detail}: add your proxy to TRUSTED_PROXIES`)
}

async function checkDisk(dataDir: string): Promise<Finding> {
  const folder = await existing(dataDir)
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    const why = (cause as NodeJS.ErrnoException).code
    throw new Error(`SOUK_DATA: ${folder} cannot be written to (${why}): spooled clicks go there`, {
      cause,
    })
  })
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const detail = `${(free / GIB).toFixed(1)} GiB free at ${dataDir}`
  if (free >= DISK_FREE_MIN) return good(detail)
  return bad(`${detail}: needs at least ${DISK_FREE_MIN / GIB} GiB`)
}

/** The folder itself, or before the first start where it will be made. */
async function existing(folder: string): Promise<string> {
  const isRoot = dirname(folder) === folder
  const found = isRoot ? await readdir(folder) : await readdir(folder).catch(nullIfGone)
  return found === null ? existing(dirname(folder)) : folder
}

function nullIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** What was set aside waits for a person; the rest is drained at once while a server runs. */
async function checkSpool({ storage, now }: HealthContext, root: string): Promise<Finding> {
  const files = await filesBelow(root)
  const aside = files.filter(({ path }) => path.split(/[\\/]/).includes('aside'))
  if (aside.length > 0) {
    const detail = `${aside.length} damaged or refused files in ${root}: look into their aside folders`
    return bad(detail)
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const detail = `${Math.ceil(bytes / 1024)} KiB in ${root}`
  const waiting = files.filter(({ path }) => path.endsWith('.spool'))
  const ageMs = now().getTime() - Math.min(...waiting.map(({ changedMs }) => changedMs))
  if (waiting.length === 0 || ageMs <= LAG_MAX_MS) return good(detail)
  const since = `${detail}, some for ${Math.round(ageMs / 1000)} s`
  const { db } = await storage()
  const isServed = (await isMigrated(db)) && (await isAnyServerAlive(db))
  if (!isServed) return good(`${since}: no server runs`)
  const why = 'does a server run on this SOUK_DATA? It logs why the event log does not take them'
  return bad(`${since}: ${why}`)
}

async function checkSecrets({ config }: HealthContext): Promise<Finding> {
  if (config.sealingKeys !== null) {
    return good(`${config.sealingKeys.length} sealing keys from SOUK_SECRETS`)
  }
  const folder = join(config.dataDir, 'secrets')
  const files = await filesBelow(folder)
  if (files.length === 0) return good('made at the first start')
  const open = files.filter(({ mode }) => (mode & ANYBODY_ELSE) !== 0).map(({ path }) => path)
  if (open.length > 0) {
    return bad(`others may read ${open.join(', ')}: chmod 600`)
  }
  await knownSealingKeys(config) // Throws what a start would say of them.
  return good(`${files.length} kept in ${folder}`)
}

interface FileFacts {
  readonly path: string
  readonly bytes: number
  readonly mode: number
  readonly changedMs: number
}

/** Files below a folder; none when it does not exist, or when they vanish meanwhile. */
async function filesBelow(folder: string): Promise<FileFacts[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(nullIfGone)
  const files = (entries ?? []).filter((entry) => entry.isFile())
  const facts = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      const found = await stat(path).catch(nullIfGone)
      return found && { path, bytes: found.size, mode: found.mode, changedMs: found.mtimeMs }
    }),
  )
  return facts.filter((file) => file !== null)
}
