/**
 * ROLES: one database, a process for each role and a second edge. They communicate through the
 * database, with the same secrets.
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS, utcDay } from '../../src/platform/time/timestamp.ts'
import { BROWSER } from '../support/app.ts'
import { makeCampaign, makeMerchant } from '../support/catalogue.ts'
import { databaseUrl, testDatabase } from '../support/database.ts'
import { ownMs } from '../support/process-time.ts'
import { type Environment, type RunningSouk, serve, souk } from '../support/souk.ts'

const VISIBLE_MS = 5_000
const EFFECT_MS = 2_000

// Its processes end before the database is dropped.
const dropDatabase: (() => Promise<void>)[] = []
const db = await testDatabase({ after: (work) => dropDatabase.push(work) })
const dataDir = await mkdtemp(join(tmpdir(), 'souk-roles-'))
const shared: Environment = {
  DATABASE_URL: databaseUrl(db.connection),
  SOUK_SECRETS: `1:${randomBytes(32).toString('base64')}`,
  PORT: '0',
  LOG_LEVEL: 'error',
}
const command = { ...shared, SOUK_DATA: join(dataDir, 'command') }
const start = (name: string, ROLES: string) =>
  serve({ ...shared, ROLES, SOUK_DATA: join(dataDir, name) })
const nodes = await Promise.all([
  start('api', 'api'),
  start('one', 'edge'),
  start('two', 'edge'),
  start('worker', 'worker'),
])
const [api, one, two, worker] = nodes as [RunningSouk, RunningSouk, RunningSouk, RunningSouk]
after(async () => {
  const codes = await Promise.all(nodes.map((node) => node.stop()))
  await rm(dataDir, { recursive: true, force: true })
  for (const drop of dropDatabase) await drop()
  assert.deepEqual(codes, [0, 0, 0, 0])
})

await souk(command, 'user', 'create', '--email', 'a@x.example', '--password', 'a long one')
const publisher = [
  '--name',
  'P',
  '--slug',
  'p',
  '--user',
  'a@x.example',
  '--domain',
  'p.example',
  '--partner',
]
const { pub_id: pubId } = await souk<{ pub_id: number }>(
  command,
  'publisher',
  'create',
  ...publisher,
)
const labelled = ['--user', 'a@x.example', '--description', 'test']
const { key } = await souk<{ key: string }>(command, 'key', 'create', ...labelled)
const KETTLE = 'https://shop.example/p/1'
const offers = [{ id: '1', link: KETTLE }]
const { merchId } = await makeMerchant(db, { name: 'Shop', domain: 'shop.example', offers })
const campaign = await makeCampaign(db, merchId)

const PAGE = 'https://p.example/kettles'
const PERSON_MS = 350 // The service treats faster clicks as a program's.

const call = (node: RunningSouk, path: string, init: RequestInit = {}) =>
  fetch(node.url + path, {
    redirect: 'manual',
    ...init,
    headers: { 'user-agent': BROWSER, authorization: `SERVICE-API-KEY ${key}`, ...init.headers },
  })
const post = (node: RunningSouk, path: string, body: unknown) =>
  call(node, path, { method: 'POST', body: JSON.stringify(body) })

interface AuctionEntry {
  readonly auction_result: { readonly redirect_url: string }
  readonly has_winner: boolean
}

async function auction(node: RunningSouk, auctionId: string): Promise<AuctionEntry | undefined> {
  const answer = await call(node, `/api/v1/auction/?a=${auctionId}&uuid=${randomUUID()}`)
  return ((await answer.json()) as { data: AuctionEntry[] }).data[0]
}

async function until(withinMs: number, holds: () => Promise<boolean>): Promise<void> {
  const started = ownMs()
  while (!(await holds())) {
    assert.ok(ownMs() - started < withinMs, `not within ${withinMs} ms`)
    await sleep(20)
  }
}

test('a process answers the endpoints of its roles and no others', async () => {
  const SHARED = ['GET /healthz', 'GET /readyz', 'GET /metrics']
  const BOTH = [
    'GET /api/v0/publishers/p/amp_config/',
    'POST /api/v1/publishers/1/linkmate/smart_links/',
    'POST /api/v1/events/impressions/page_impression/',
    'POST /api/v1/events/conversions/checkout/',
    'POST /api/v1/events/conversions/page_view/',
  ]
  const API = ['GET /api/v1/tokeninfo/', 'POST /api/v1/smart_links/', 'GET /', 'GET /dashboard/']
  const EDGE = ['GET /api/v1/auction/', 'GET /link/']
  const answered: [RunningSouk, string[]][] = [
    [api, [...SHARED, ...BOTH, ...API]],
    [one, [...SHARED, ...BOTH, ...EDGE]],
    [worker, SHARED],
  ]
  for (const [node, own] of answered) {
    for (const route of [...SHARED, ...BOTH, ...API, ...EDGE]) {
      const [method = '', path = ''] = route.split(' ')
      const { status } = await call(node, path, { method })
      assert.equal(status !== 404, own.includes(route), `${route} at ${node.url}: ${status}`)
    }
  }
})

test('one edge runs the auction, another takes the click, a worker counts it, the api reports it', async () => {
  const body = { url: KETTLE, article_name: 'Kettles', article_url: PAGE }
  const created = await post(api, '/api/v1/smart_links/', body)
  const { data } = (await created.json()) as { data: [{ auction_id: string }] }
  const auctionId = data[0].auction_id
  await until(EFFECT_MS, async () => (await auction(one, auctionId))?.has_winner === true)
  const won = await auction(one, auctionId)
  await sleep(PERSON_MS)
  const { pathname, search } = new URL(won?.auction_result.redirect_url ?? '')
  const click = await call(two, pathname + search)
  assert.match(
    click.headers.get('location') ?? '',
    /^https:\/\/shop\.example\/p\/1\?cid=[0-9a-f]{32}$/,
  )
  const event = {
    organization_type: 'publisher',
    organization_id: pubId,
    user: { page_session_uuid: randomUUID(), source_url: PAGE },
    events: [{}],
  }
  assert.equal((await post(api, '/api/v1/events/impressions/page_impression/', event)).status, 201)

  const [today, tomorrow] = [0, 1].map((days) => utcDay(Date.now() + days * DAY_MS))
  const range = `date_from=${today}&date_to=${tomorrow}`
  const path = `/api/v1/publishers/${pubId}/stats_by_article_merchant_daily/?${range}`
  await until(VISIBLE_MS, async () => {
    const { stats } = (await (await call(api, path)).json()) as { stats: Record<string, unknown>[] }
    return stats.some(({ clicks, impressions }) => clicks === 1 && impressions === 1)
  })
})

test('a command reaches every edge within 2 seconds', async () => {
  const links = { article: { name: 'Kettles', url: PAGE }, links: [{ raw_url: KETTLE }] }
  const path = `/api/v1/publishers/${pubId}/linkmate/smart_links/`
  const { data } = (await (await post(one, path, links)).json()) as {
    data: [{ smart_links: [{ auction_id: string }] }]
  }
  const auctionId = data[0].smart_links[0].auction_id
  for (const [verb, hasWinner] of [
    ['pause', false],
    ['resume', true],
  ] as const) {
    await souk(command, 'campaign', verb, '--campaign', String(campaign.campaign_id))
    await until(EFFECT_MS, async () => {
      const entries = await Promise.all([one, two].map((node) => auction(node, auctionId)))
      return entries.every((entry) => entry?.has_winner === hasWinner)
    })
  }
})
