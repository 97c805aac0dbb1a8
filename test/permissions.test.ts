/**
 * Every documented route × every role × own, foreign and unknown organization × session, key with
 * the scope, key without it. The routes come from the API description, the expected answers from
 * the table in docs/spec/management.md#roles.
 *
 * No call changes anything: every call has bad input, and who may call is decided before it is
 * read.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openapiText } from '../scripts/write-openapi.ts'
import { NETWORK, type Organization, type Permission } from '../src/accounts/permission.ts'
import { startTestApp } from './support/app.ts'
import {
  makeKey,
  makeMerchantOf,
  makePerson,
  makePublisherOf,
  signIn,
} from './support/management.ts'
import { ROOT } from './support/source-files.ts'

/** Routes that need no permission, each with the reason. */
const PUBLIC: Readonly<Record<string, string>> = {
  'GET /api/v1/auction/': 'called by readers’ browsers',
  'GET /api/v1/pixel/': 'called by readers’ browsers',
  'GET /api/v1/redirect/': 'followed by readers',
  'GET /{auction_id}': 'followed by readers',
  'GET /link/': 'followed by readers',
  'POST /api/v1/events/impressions/page_impression/': 'called by readers’ browsers',
  'POST /api/v1/events/impressions/service_link_impression/': 'called by readers’ browsers',
  'POST /api/v1/events/impressions/service_link_viewable_impression/':
    'called by readers’ browsers',
  'POST /api/v1/events/conversions/checkout/': 'called by shoppers’ browsers',
  'POST /api/v1/events/conversions/page_view/': 'called by shoppers’ browsers',
  'GET /api/v0/publishers/{slug}/amp_config/': 'read by AMP caches',
  'POST /api/v1/merchants/{merch_id}/orders/': 'signed with the merchant’s secret',
  'POST /api/v1/merchants/{merch_id}/returns/': 'signed with the merchant’s secret',
  'GET /api/v1/merchants/{merch_id}/refused/': 'signed with the merchant’s secret',
  'GET /api/v1/invitations/{token}/': 'the link’s token is the proof',
  'POST /api/v1/invitations/{token}/accept/': 'the link’s token is the proof',
}
/** Signing in happens before there is anybody with a permission. */
const isPublic = (name: string) =>
  name in PUBLIC || / \/api\/v1\/session\//.test(name) || / \/api\/v1\/unsubscribe\//.test(name)

/** Routes whose key is optional; a key that is sent must have the permission. */
const KEYLESS = [
  'GET /api/v1/product_match/clickmate/exclusive_links/',
  'POST /api/v1/publishers/{pub_id}/linkmate/smart_links/',
]

/** Routes that name their publisher in the query, the body or a record, and decide afterwards. */
const OF_NO_PATH = [
  'POST /api/v1/smart_links/',
  'GET /api/v1/product_match/clickmate/exclusive_links/',
  'POST /api/v1/what_if/',
  'GET /api/v1/what_if/{job_id}/',
]

/**
 * Routes of docs/spec/interface.md and docs/spec/reports.md, by the part after the organization.
 * Their contract is older: an unknown id is a 404.
 */
const OLDER = [
  ...['linkmate/', 'stats_by_article_merchant_daily/', 'product_feeds/', 'reports/', 'no_fill/'],
  ...['orders/', 'statements/', 'payments/', 'ledger/'],
  ...['unattributed_redirects/', 'overview/', 'clicks/', 'returns/', 'no_fill_sample/'],
  ...['link_search/', 'entries/', 'refused_reports/'],
]
const partOf = ({ path }: Described) =>
  /^\/api\/v1\/(?:publishers|merchants)\/\{\w+\}\/(\w+\/)/.exec(path)?.[1] ?? ''

const VALUES: Readonly<Record<string, string>> = {
  ...{ date: '2026-03-01', date_from: '2026-03-01', date_to: '2026-03-02', month: '2026-03' },
  ...{ since: '2026-03-01T00:00:00Z', report: 'clicks' },
}

/** The table of permissions as people read it. */
function readTable(): Map<string, Set<string>> {
  const text = readFileSync(join(ROOT, 'docs/spec/management.md'), 'utf8')
  const table = new Map<string, Set<string>>()
  for (const line of text.split('\n')) {
    const [, names = '', ...cells] = line.split('|').map((cell) => cell.trim())
    if (!names.startsWith('`') || cells.length < 5) continue
    const roles = ['owner', 'manager', 'viewer', 'admin', 'staff'].filter(
      (_, at) => cells[at] === '✓',
    )
    for (const [, name = ''] of names.matchAll(/`([a-z.]+)`/g)) table.set(name, new Set(roles))
  }
  return table
}

interface Described {
  readonly name: string // `PATCH /api/v1/publishers/{pub_id}/members/{uid}/`
  readonly method: string
  readonly path: string
  readonly permission: Permission | null | undefined
  readonly query: string // with good values of every required parameter
}

interface Operation {
  readonly 'x-permission'?: Permission | null
  readonly parameters?: readonly { in: string; name: string; required?: boolean }[]
}

const { http, node } = await startTestApp({ after })
const db = node.database
const table = readTable()
const { paths } = JSON.parse(openapiText(http)) as {
  paths: Record<string, Record<string, Operation>>
}
const routes: Described[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([verb, described]) => {
    const method = verb.toUpperCase()
    const required = (described.parameters ?? []).filter(
      (one) => one.in === 'query' && one.required === true,
    )
    const query = new URLSearchParams(required.map(({ name }) => [name, VALUES[name] ?? '1']))
    const permission = described['x-permission']
    return { name: `${method} ${path}`, method, path, permission, query: String(query) }
  }),
)

const [publisher, merchant] = [(await makePublisherOf(db)).at, (await makeMerchantOf(db)).at]
const [otherPublisher, otherMerchant] = [
  (await makePublisherOf(db)).at,
  (await makeMerchantOf(db)).at,
]
const UNKNOWN_ID = 2_000_000_000
const ORGANIZATIONS = {
  publisher: { own: publisher, foreign: otherPublisher },
  merchant: { own: merchant, foreign: otherMerchant },
} as const
type Role = 'owner' | 'manager' | 'viewer' | 'admin' | 'staff' | 'none'
const ROLES: readonly Role[] = ['owner', 'manager', 'viewer', 'admin', 'staff', 'none']
const isOfNetwork = (role: Role) => role === 'admin' || role === 'staff'

interface Member {
  readonly role: Role
  readonly session: Readonly<Record<string, string>>
  /** Headers of a key with one scope. */
  scoped(scope: string): Promise<Readonly<Record<string, string>>>
}

const people = await Promise.all(ROLES.map(makeMember))

async function makeMember(role: Role): Promise<Member> {
  const held =
    role === 'none'
      ? []
      : isOfNetwork(role)
        ? [{ organization: NETWORK, role }]
        : [publisher, merchant].map((organization) => ({ organization, role }))
  const { uid, email } = await makePerson(db, ...held)
  const keys = new Map<string, Promise<string>>()
  return {
    role,
    session: await signIn(db, email),
    scoped: async (scope) => {
      const key = await keys.getOrInsertComputed(scope, () =>
        makeKey(db, uid, { scopes: [scope as Permission] }),
      )
      return { authorization: `SERVICE-API-KEY ${key}` }
    },
  }
}

type Whose = 'own' | 'foreign' | 'unknown'
const WHOSE: readonly Whose[] = ['own', 'foreign', 'unknown']

/** The code of the refusal that the table says; null: none. */
function expected(
  { path, permission }: Described,
  { role, whose, hasScope }: { role: Role; whose: Whose; hasScope: boolean },
): number | null {
  const belongs =
    isOfNetwork(role) || (kindOf(path) !== 'network' && whose === 'own' && role !== 'none')
  if (!belongs) return 4303
  const isAllowed = hasScope && table.get(String(permission))?.has(role) === true
  if (!isAllowed) return 4305
  return whose === 'unknown' ? 4303 : null
}

function kindOf(path: string): Organization['kind'] {
  if (path.startsWith('/api/v1/publishers/{pub_id}/')) return 'publisher'
  return path.startsWith('/api/v1/merchants/{merch_id}/') ? 'merchant' : 'network'
}

/** A path whose organization is this one, and whose other ids do not exist. */
function pathOf({ path }: Described, whose: Whose): string {
  const kind = kindOf(path)
  const id = kind === 'network' || whose === 'unknown' ? UNKNOWN_ID : ORGANIZATIONS[kind][whose].id
  return path
    .replace(/^(\/api\/v1\/(?:publishers|merchants)\/)\{\w+\}/, `$1${id}`)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => VALUES[name] ?? String(UNKNOWN_ID))
}

interface Sending {
  readonly whose: Whose
  readonly headers: Readonly<Record<string, string>>
  /** Whether the query is bad too; a read with a good one may pass. */
  readonly isRefused: boolean
}

async function send(route: Described, { whose, headers, isRefused }: Sending) {
  const { method } = route
  const query = isRefused ? 'limit=x&date_from=x&date=x' : route.query
  const isChange = method !== 'GET'
  const answer = await http.inject({
    method: method as 'GET',
    url: `${pathOf(route, whose)}?${query}`,
    headers: { ...headers, ...(isChange ? { 'idempotency-key': 'ü' } : {}) },
    ...(isChange && method !== 'DELETE' ? { payload: [] } : {}),
  })
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  const { error = null } = isJson ? JSON.parse(answer.body) : {}
  return { status: answer.statusCode, code: error?.code ?? null, data: error?.data ?? null }
}

function isRight(
  { permission }: Described,
  want: number | null,
  { status, code, data }: Awaited<ReturnType<typeof send>>,
): boolean {
  if (want === null) return status < 500 && status !== 401 && ![4303, 4305].includes(code)
  return status === 403 && code === want && (want === 4303 || data?.permission === permission)
}

const guarded = routes.filter(({ name, permission }) => permission && !OF_NO_PATH.includes(name))

test('every documented route names its permission, or is public for a reason', () => {
  const undeclared = routes.filter(
    ({ name, permission }) => permission === undefined && !isPublic(name),
  )
  assert.deepEqual(
    undeclared.map(({ name }) => name),
    [],
  )
  const names = new Set(routes.map(({ name }) => name))
  const gone = [...Object.keys(PUBLIC), ...KEYLESS, ...OF_NO_PATH].filter((one) => !names.has(one))
  assert.deepEqual(gone, [], 'listed, but no longer served')
  assert.deepEqual(
    [...new Set(guarded.map(({ permission }) => permission))].filter(
      (one) => !table.has(String(one)),
    ),
    [],
  )
})

test('nobody gets past a route without credentials', async () => {
  const open: string[] = []
  for (const route of routes.filter(({ name }) => !isPublic(name))) {
    if (KEYLESS.includes(route.name)) continue
    const { status } = await send(route, { whose: 'own', headers: {}, isRefused: true })
    if (status !== 401) open.push(`${route.name}: ${status}`)
  }
  assert.deepEqual(open, [])
})

for (const person of people) {
  test(`${person.role}: each route answers what the table of permissions says`, async () => {
    const wrong: string[] = []
    for (const route of guarded) {
      const permission = String(route.permission)
      const otherScope = permission === 'figures.read' ? 'links.write' : 'figures.read'
      const credentials = [
        ['session', person.session, true],
        ['key', await person.scoped(permission), true],
        ['key without scope', await person.scoped(otherScope), false],
      ] as const
      for (const whose of kindOf(route.path) === 'network' ? (['own'] as const) : WHOSE) {
        for (const [through, headers, hasScope] of credentials) {
          // Of a route for readers' browsers, a cookie is no sign of who calls.
          if (through === 'session' && KEYLESS.includes(route.name)) continue
          const want = expected(route, { role: person.role, whose, hasScope })
          const got = await send(route, { whose, headers, isRefused: want !== null })
          // Somebody with a right in every organization may send input for one that is not there.
          const isLost =
            whose === 'unknown' &&
            OLDER.includes(partOf(route)) &&
            (got.status === 404 || (isOfNetwork(person.role) && got.status === 400))
          if (isLost || isRight(route, want, got)) continue
          wrong.push(`${route.name} (${whose}, ${through}): ${want} → ${JSON.stringify(got)}`)
        }
      }
    }
    assert.deepEqual(wrong, [])
  })
}
