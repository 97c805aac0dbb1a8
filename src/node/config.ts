/**
 * Reads the configuration. No other file reads the environment.
 *
 * It is read once, checked, frozen and passed on. An invalid value stops the start, and the error
 * names every invalid value, so that one attempt finds all mistakes.
 */
import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import { type Cidr, readCidr } from '../platform/net/client-address.ts'
import type { MailServer } from '../platform/net/mail.ts'
import { readOrigin } from '../platform/net/url.ts'
import { readableFile, readBlocklist, readFolder, readGeoip } from './config-files.ts'

type Role = 'api' | 'edge' | 'worker'
type Pricing = 'second_price' | 'first_price'

/** A token bucket: `rate` tokens per second, at most `burst` saved. Null for no limit. */
export interface RateLimit {
  readonly rate: number
  readonly burst: number
}
const GROUPS = ['auction', 'events', 'linkmate', 'key', 'redirect'] as const
export type RateLimitGroup = (typeof GROUPS)[number]

export interface SealingKey {
  readonly id: number // one byte, which a sealed result contains to name its key
  readonly key: Buffer
}

/** The identity provider that users sign in through (OpenID Connect). */
export interface OidcProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly isRequired: boolean // whether passwords are turned off
}

export interface Config {
  readonly port: number
  readonly host: string
  readonly dataDir: string
  readonly databaseUrl: string | null
  readonly natsUrl: string | null // comma-separated for a cluster
  readonly baseUrl: string
  readonly auctionUrl: string
  readonly linkUrl: string
  readonly roles: ReadonlySet<Role>
  readonly brand: string
  readonly brandWords: readonly string[] // accepted on input: the brand and its aliases
  readonly sealingKeys: readonly SealingKey[] | null // null: stored in dataDir
  readonly rateLimits: Readonly<Record<RateLimitGroup, RateLimit | null>>
  readonly trustedProxies: readonly Cidr[]
  readonly geoHeader: string | null
  readonly geoipDb: string | null
  readonly corsOrigins: readonly string[]
  readonly pricing: Pricing
  readonly linkmateNewPerHour: number
  readonly ipBlocklist: readonly Cidr[]
  readonly receiptHours: number
  readonly retentionDays: number
  readonly allowPrivateFetch: boolean
  readonly mail: MailServer | null // null: no mail is sent
  readonly oidc: OidcProvider | null // null: users sign in with passwords only
  readonly logLevel: string
}

/** Every fault of a configuration. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    const values = problems.length === 1 ? 'a wrong value' : `${problems.length} wrong values`
    super(`The configuration has ${values}:\n  ${problems.join('\n  ')}`)
    this.problems = problems
  }
}

const PORT_DEFAULT = 8080
/** The base of the URLs while PORT=0 has no port yet. */
const UNKNOWN_PORT_URL = 'http://localhost:0'

/** Name, default and help of every variable, for the table in docs/operations.md. */
export const VARIABLES = [
  ['PORT', String(PORT_DEFAULT), 'Port to listen on; 0 lets the system pick one.'],
  ['HOST', '127.0.0.1', 'Address to listen on.'],
  ['SOUK_DATA', './data', 'Embedded database, spool and secrets; created 0700.'],
  ['DATABASE_URL', '', 'PostgreSQL to use instead of the embedded one.'],
  ['NATS_URL', '', 'JetStream to log events in instead of PostgreSQL; of a cluster, `url,…`.'],
  ['BASE_URL', 'http://localhost:$PORT', 'Public address of the API and dashboard.'],
  ['AUCTION_URL', 'http://localhost:$PORT', 'Public address of auction, redirect and pixel.'],
  ['LINK_URL', 'http://localhost:$PORT', 'Public address of smart links.'],
  ['ROLES', 'api,edge,worker', 'What this process does.'],
  ['BRAND', 'service', 'The brand word in field names and schemes on output.'],
  ['BRAND_ALIASES', 'service,souk,nrtv,bamx,bam,howl', 'Further words accepted on input.'],
  [
    'SOUK_SECRETS',
    '',
    'Sealing keys `id:base64,…` of 32 bytes; the first signs. Default: made, kept in SOUK_DATA.',
  ],
  [
    'RATE_LIMITS',
    'auction=2000:10000,events=1000:5000,linkmate=20:100,key=50:200,redirect=50:200',
    '`group=rate:burst,…`: calls a second, and at once, of an address (`key`: of a key) at a node; ' +
      'events count each. `group=0` turns one off, `0` all.',
  ],
  ['TRUSTED_PROXIES', '', 'CIDR list of proxies that may set X-Forwarded-For.'],
  ['GEO_HEADER', '', 'Request header that carries an ISO 3166 country code.'],
  ['GEOIP_DB', '', 'Path of a MaxMind country database, where `GEO_HEADER` is not set.'],
  ['CORS_ORIGINS', '', 'Origins that may call account endpoints from a browser.'],
  ['PRICING', 'second_price', '`second_price` or `first_price`, for the whole market.'],
  [
    'LINKMATE_NEW_PER_HOUR',
    '5000',
    'New links per publisher and hour by calls without a key; `/link/` may make as many again.',
  ],
  ['IP_BLOCKLIST', '', 'File of CIDR lines, read at the start; clicks from there are not paid.'],
  ['RECEIPT_HOURS', '48', 'How long receipts of auctions without a click are stored.'],
  ['RETENTION_DAYS', '400', 'How long views are stored, 31 at least; signed daily totals stay.'],
  ['ALLOW_PRIVATE_FETCH', 'off', '`on`: fetched addresses may be private ones, as in the demo.'],
  ['SMTP_URL', '', 'Mail server, `smtp://user:password@host:587` or `smtps://…`; unset: no mail.'],
  ['MAIL_FROM', '', 'Sender of mail; default: `souk@` and the host of `BASE_URL`.'],
  ['OIDC_ISSUER', '', 'Identity provider (OpenID Connect) that users may sign in through.'],
  ['OIDC_CLIENT_ID', '', 'The name of this service at `OIDC_ISSUER`.'],
  ['OIDC_CLIENT_SECRET', '', 'Its secret there.'],
  ['OIDC_REQUIRED', 'off', '`on`: users sign in through `OIDC_ISSUER` only, not with passwords.'],
  ['LOG_LEVEL', 'info', '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.'],
] as const
type Name = (typeof VARIABLES)[number][0]

/** A past day's totals are written 30 days before its views are deleted (events/view-totals.ts). */
const RETENTION_DAYS_MIN = 31

/** Reads and checks the environment. Throws a ConfigError that names every invalid value. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const problems: string[] = []
  const defaults = new Map<string, string>(VARIABLES.map(([name, value]) => [name, value]))
  const text = (name: Name): string => (env[name] ?? '').trim() || (defaults.get(name) ?? '')
  const check: Check = (name, read) => {
    try {
      return read(text(name))
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
      return undefined as never
    }
  }
  const port = check('PORT', integerBetween(0, 65_535))
  // An invalid PORT is one fault, and not also one of every URL with it.
  const url = (value: string) => publicUrl(value.replace('$PORT', String(port ?? PORT_DEFAULT)))

  const [brand = '', ...written] = check('BRAND', brandWord) ?? []
  const aliases = check('BRAND_ALIASES', (value) => listOf(value, brandWord))
  const baseUrl = check('BASE_URL', url)
  const config: Config = {
    port,
    host: check('HOST', readHost),
    dataDir: check('SOUK_DATA', readFolder),
    databaseUrl: check('DATABASE_URL', databaseUrl),
    natsUrl: check('NATS_URL', (value) => listOf(value, natsAddress).join(',') || null),
    baseUrl,
    auctionUrl: check('AUCTION_URL', url),
    linkUrl: check('LINK_URL', url),
    roles: check('ROLES', readRoles),
    brand,
    brandWords: [...new Set([brand, ...written, ...(aliases ?? []).flat()])],
    sealingKeys: check('SOUK_SECRETS', (value) => (value === '' ? null : readSealingKeys(value))),
    rateLimits: check('RATE_LIMITS', readRateLimits),
    trustedProxies: check('TRUSTED_PROXIES', (value) => listOf(value, readCidr)),
    geoHeader: check('GEO_HEADER', readHeaderName),
    geoipDb: check('GEOIP_DB', (value) => (value === '' ? null : readGeoip(value))),
    corsOrigins: check('CORS_ORIGINS', (value) => listOf(value, corsOrigin)),
    pricing: check('PRICING', oneOf('second_price', 'first_price')),
    linkmateNewPerHour: check('LINKMATE_NEW_PER_HOUR', integerBetween(0, 1_000_000)),
    ipBlocklist: check('IP_BLOCKLIST', readBlocklist),
    receiptHours: check('RECEIPT_HOURS', integerBetween(1, 24 * 400)),
    retentionDays: check('RETENTION_DAYS', integerBetween(RETENTION_DAYS_MIN, 36_500)),
    allowPrivateFetch: check('ALLOW_PRIVATE_FETCH', readSwitch),
    mail: readMail(check, baseUrl),
    oidc: readOidc(check),
    logLevel: check(
      'LOG_LEVEL',
      oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    ),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

/** Reads one variable; an invalid value is collected, and undefined is returned instead. */
type Check = <T>(name: Name, read: (value: string) => T) => T

function readMail(check: Check, baseUrl: string | undefined): MailServer | null {
  const url = check('SMTP_URL', (value) => {
    const server = serverUrl(value, ['smtp:', 'smtps:'])
    if (server !== null && server.search !== '') throw new Error('must not have a query')
    return server
  })
  const from = check('MAIL_FROM', (value) => {
    if (value === '' || MAIL_SENDER.test(value)) return value
    throw new Error(`must be an e-mail address or "Name <address>", is "${value}"`)
  })
  if (!url) return null
  return { url: url.href, from: from || `Souk <souk@${URL.parse(baseUrl ?? '')?.hostname}>` }
}

const MAIL_SENDER = /^([^<>\r\n]+<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/

function readOidc(check: Check): OidcProvider | null {
  const issuer = check('OIDC_ISSUER', issuerUrl)
  const ifIssuer = (value: string) => {
    if (issuer && value === '') throw new Error('must be set beside OIDC_ISSUER')
    return value
  }
  const clientId = check('OIDC_CLIENT_ID', ifIssuer)
  const clientSecret = check('OIDC_CLIENT_SECRET', ifIssuer)
  const isRequired = check('OIDC_REQUIRED', (value) => {
    const isOn = readSwitch(value)
    if (isOn && issuer === null) throw new Error('needs OIDC_ISSUER: nobody could sign in')
    return isOn
  })
  return issuer ? { issuer, clientId, clientSecret, isRequired } : null
}

/** https, because anybody who can change the provider's answers can sign in as any user. */
function issuerUrl(value: string): string | null {
  if (value === '') return null
  const url = URL.parse(value)
  const isLocal = url?.protocol === 'http:' && LOCAL_HOSTS.includes(url.hostname)
  if (url === null || (url.protocol !== 'https:' && !isLocal) || /[?#]/.test(value)) {
    throw new Error(`must be an https address (http only on this machine), is "${value}"`)
  }
  if (url.username !== '' || url.password !== '') throw new Error('must not hold a password')
  return value
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]']

/**
 * The configuration with the actual port. With `PORT=0` the system chooses it, and URLs derived
 * from PORT must contain it.
 */
export function onPort(config: Config, port: number): Config {
  const here = (url: string) => (url === UNKNOWN_PORT_URL ? `http://localhost:${port}` : url)
  const { baseUrl, auctionUrl, linkUrl } = config
  const urls = { baseUrl: here(baseUrl), auctionUrl: here(auctionUrl), linkUrl: here(linkUrl) }
  return Object.freeze({ ...config, ...urls, port })
}

/** Whether a node with this configuration can determine a reader's country. */
export function knowsCountries({ geoHeader, geoipDb }: Config): boolean {
  return geoHeader !== null || geoipDb !== null
}

/** The environment for a child process of another program. */
export function environmentWith(extra: Readonly<Record<string, string>>) {
  return { ...process.env, ...extra }
}

/** The settings that must be equal on all nodes of a network. A URL may contain a password. */
export function sharedSettings({ brand, pricing, natsUrl }: Config): Record<string, string> {
  return { BRAND: brand, PRICING: pricing, NATS_URL: natsUrl === null ? 'none' : 'given' }
}

/** Reads `id:base64,id:base64`. Throws with the reason. Keys have at least 32 bytes. */
export function readSealingKeys(value: string): SealingKey[] {
  const keys = listOf(value, readSealingKey)
  if (new Set(keys.map((key) => key.id)).size < keys.length) {
    throw new Error('ids must differ; where two words fall on one number, choose another word')
  }
  if (keys.length === 0) throw new Error('needs at least one `id:base64`')
  return keys
}

/** Errors never repeat the key itself. An id is too short to be a misplaced key. */
function readSealingKey(item: string): SealingKey {
  const [id = '', encoded = '', ...rest] = item.split(':')
  if (rest.length > 0 || !/^[\w.-]{1,32}$/.test(id)) {
    throw new Error('each key is `id:base64`, its id a number from 0 to 255 or a word')
  }
  // Node ignores invalid base64 characters, and a mistyped key would become another one.
  if (!BASE64.test(encoded)) throw new Error(`key ${id} is not base64`)
  const key = Buffer.from(encoded, 'base64')
  if (key.length < 32) throw new Error(`key ${id} has ${key.length} bytes, needs at least 32`)
  return { id: keyNumber(id), key }
}

/**
 * The number itself if it fits a byte; otherwise a number that every process derives from the word.
 */
function keyNumber(id: string): number {
  const isByte = /^\d{1,3}$/.test(id) && Number(id) <= 255
  return isByte ? Number(id) : hash('sha256', id, 'buffer').readUInt8()
}

/** Either alphabet, with or without padding. */
const BASE64 = /^[\w+/-]*={0,2}$/

/** Labels between dots, the last with a letter: 256.1.1.1 is a mistyped address, not a name. */
const HOST_NAME = /^(?=.{1,253}$)([a-z\d][a-z\d-]*\.)*(?=[^.]*[a-z])[a-z\d][a-z\d-]*\.?$/i

/** An address or name of this machine. Only listening shows whether it is valid. */
function readHost(value: string): string {
  if (isIP(value) === 0 && !HOST_NAME.test(value)) {
    throw new Error(`must be an IP address or a host name, is "${value}"`)
  }
  return value
}

function readHeaderName(value: string): string | null {
  if (value !== '' && !/^[\w-]+$/.test(value)) {
    throw new Error(`must be the name of a request header, is "${value}"`)
  }
  return value.toLowerCase() || null
}

function list(value: string): string[] {
  return value.split(',').flatMap((item) => item.trim() || [])
}

/** Reads each item of a list. Throws once, naming every invalid item. */
function listOf<T>(value: string, read: (item: string) => T): T[] {
  const wrong = new Set<string>()
  const items = list(value).flatMap((item) => {
    try {
      return [read(item)]
    } catch (error) {
      wrong.add((error as Error).message)
      return []
    }
  })
  if (wrong.size > 0) throw new Error([...wrong].join('; '))
  return items
}

function integerBetween(low: number, high: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < low || number > high) {
      throw new Error(`must be a whole number from ${low} to ${high}, is "${value}"`)
    }
    return number
  }
}

function oneOf<T extends string>(...allowed: T[]): (value: string) => T {
  return (value) => {
    const found = allowed.find((item) => item === value)
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}, is "${value}"`)
    return found
  }
}

function readSwitch(value: string): boolean {
  if (['on', 'true', '1', 'yes'].includes(value.toLowerCase())) return true
  if (['off', 'false', '0', 'no'].includes(value.toLowerCase())) return false
  throw new Error(`must be on or off, is "${value}"`)
}

/** In lower case for output, and as the operator wrote it. */
function brandWord(value: string): readonly string[] {
  if (!/^[a-z][a-z0-9]{0,31}$/i.test(value)) {
    throw new Error(`must be one word of letters and digits, is "${value}"`)
  }
  return [value.toLowerCase(), value]
}

/** A public URL: http(s), without a query; drops the final slash. */
function publicUrl(value: string): string {
  const url = URL.parse(value)
  // URL drops an empty `?` or `#`, but every link would contain it.
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(value)) {
    throw new Error(`must be an http(s) address without query, is "${value}"`)
  }
  // It would be public, and every browser's fetch() refuses it.
  if (url.username !== '' || url.password !== '') throw new Error('must not hold a password')
  return url.href.replace(/\/+$/, '')
}

function serverUrl(value: string, protocols: readonly string[]): URL | null {
  if (value === '') return null
  const url = URL.parse(value)
  if (url === null || !protocols.includes(url.protocol)) {
    // The value may contain a password, so it is never repeated.
    throw new Error(
      `must be an address that begins with ${protocols.join('// or ')}//, ` +
        'with %2F for / and so on in a password',
    )
  }
  return url
}

/** Several hosts after an optional password, which may contain commas as well. */
const SEVERAL_HOSTS = /^\w+:\/\/([^/]*@)?[^/?@]*,[^/?@]*([/?]|$)/

function databaseUrl(value: string): string | null {
  if (SEVERAL_HOSTS.test(value)) {
    throw new Error('must name one server: an address that leads to whichever is the primary')
  }
  // A URL with a socket folder, which is in the query, may have no host.
  const url = serverUrl(value.replace('@/', '@localhost/'), ['postgres:', 'postgresql:'])
  if (url === null) return null
  checkTls(url.searchParams)
  return value.replace(LIKE_VERIFY_FULL, '$1verify-full')
}

function checkTls(parameters: URLSearchParams): void {
  const mode = parameters.get('sslmode')
  if (mode !== null && !TLS_MODES.includes(mode)) {
    throw new Error(`sslmode must be one of ${TLS_MODES.join(', ')}, is "${mode}"`)
  }
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const path = parameters.get(name)
    if (path !== null) readableFile(path)
  }
}

const TLS_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full']
/** The driver treats these as verify-full, but warns at each start that this will change. */
const LIKE_VERIFY_FULL = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/

function natsAddress(value: string): string {
  const url = serverUrl(value, ['nats:', 'tls:', 'ws:', 'wss:'])
  try {
    decodeURIComponent(`${url?.username}:${url?.password}`)
  } catch {
    throw new Error('must have %25 for % in a name, password or token')
  }
  return value
}

function readRoles(value: string): ReadonlySet<Role> {
  const role = oneOf<Role>('api', 'edge', 'worker')
  const roles = new Set(listOf(value, role))
  if (roles.size === 0) throw new Error('needs at least one of api, edge, worker')
  return roles
}

function corsOrigin(value: string): string {
  const origin = readOrigin(value)
  if (origin !== null) return origin
  throw new Error(`must be an origin such as https://example.com, is "${value}"`)
}

function readRateLimits(value: string): Record<RateLimitGroup, RateLimit | null> {
  const none = GROUPS.map((group) => [group, null] as const)
  // Groups that the value does not name keep their default.
  const defaults = VARIABLES.find(([name]) => name === 'RATE_LIMITS')?.[1] ?? ''
  const given = value === '0' ? none : listOf(value, readRateLimit)
  const names = given.map(([group]) => group)
  const twice = GROUPS.filter((group) => names.indexOf(group) !== names.lastIndexOf(group))
  if (twice.length > 0) throw new Error(`names ${twice.join(', ')} more than once`)
  return Object.fromEntries([...listOf(defaults, readRateLimit), ...given]) as Record<
    RateLimitGroup,
    RateLimit | null
  >
}

function readRateLimit(item: string): readonly [RateLimitGroup, RateLimit | null] {
  const match = /^(\w+)=(?:(\d+):(\d+)|0)$/.exec(item)
  const group = GROUPS.find((name) => name === match?.[1])
  if (match === null || group === undefined) {
    throw new Error(`"${item}" is not group=rate:burst or group=0; groups: ${GROUPS.join(', ')}`)
  }
  const [rate, burst] = [Number(match[2] ?? 0), Number(match[3] ?? 0)]
  if (match[2] !== undefined && (rate === 0 || burst === 0)) {
    throw new Error(`"${item}": rate and burst are 1 or more; ${group}=0 turns it off`)
  }
  return [group, rate === 0 ? null : { rate, burst }]
}
