/** Which clicks are paid, seen from outside: an attacker's requests against each rule. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { REASON, reasonName } from '../../src/events/reason.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/time/timestamp.ts'
import { reconcile } from '../../src/reconcile/reconcile.ts'
import { startApi } from '../support/api.ts'
import { follow, KETTLE, makeMarket, until } from '../support/market.ts'
import { souk } from '../support/souk.ts'

/** At a key's end the counts by address start again: docs/spec/clicks.md#what-the-log-keeps. */
const ADDRESS_KEY_MS = 2 * DAY_MS
/** More than all tests here move the clock. */
const ALL_MS = 12 * HOUR_MS
const leftMs = ADDRESS_KEY_MS - (Date.now() % ADDRESS_KEY_MS)
let clockAheadMs = leftMs < ALL_MS ? leftMs : 0
const api = await startApi(
  { after },
  {
    now: () => Date.now() + clockAheadMs,
    // Tests run on loopback, which the rules by address leave alone: readers come through a proxy.
    env: { TRUSTED_PROXIES: '127.0.0.0/8', RATE_LIMITS: '0' },
  },
)
const market = await makeMarket(api)
const campaignId = await market.campaign(market.kettles, { bid_micros: micros(600_000) })
const links = await Promise.all(
  Array.from({ length: 12 }, (_none, index) =>
    market.link(KETTLE, { isExclusive: true, article: `newsletter-${index}` }),
  ),
)
const [link = ''] = links

let addresses = 0
/** Headers of a reader at an address that nobody had before. */
const newReader = () => ({
  'x-forwarded-for': `198.51.${100 + (++addresses >> 8)}.${addresses & 255}`,
})

/** The reasons of the clicks that these requests make, in log order; each is still redirected. */
async function reasonsOf(requests: () => Promise<unknown>): Promise<string[]> {
  await api.app.untilFolded()
  const before = await api.db.row<{ seq: string }>(
    sql`select coalesce(max(seq), 0) as seq from event`,
  )
  await requests()
  await api.app.untilFolded()
  const rows = await api.db.rows<{ reason: number; merchant_cost_micros: string }>(sql`
    select click.reason, merchant_cost_micros from event
    join click on click.event_id = event.id where seq > ${before?.seq} order by seq`)
  for (const { reason, merchant_cost_micros } of rows)
    assert.equal(merchant_cost_micros !== '0', reason === REASON.ok)
  return rows.map(({ reason }) => reasonName(reason))
}

async function click(auctionId: string, headers: Record<string, string>): Promise<string | null> {
  const { status, location, cookie } = await follow(api, `/${auctionId}`, headers)
  assert.equal(status, 302)
  assert.match(location, /^https:\/\/kettles\.example\//)
  return cookie
}

const times = (many: number, name: string) => Array.from({ length: many }, () => name)

test('of 12 requests to one link from one address and user agent one is paid', async () => {
  const reader = newReader()
  const reasons = await reasonsOf(async () => {
    for (let at = 0; at < 12; at += 1) await click(link, reader)
  })
  // From the eleventh on, the edge reserves nothing more for the address and says so at once.
  assert.deepEqual(reasons, ['ok', ...times(9, 'duplicate_visitor'), ...times(2, 'address_limit')])
})

test('of three clicks of a reader under GPC on one link one is paid', async () => {
  const reader = { ...newReader(), 'sec-gpc': '1' }
  const reasons = await reasonsOf(async () => {
    for (let at = 0; at < 3; at += 1) assert.equal(await click(link, reader), null)
  })
  assert.deepEqual(reasons, ['ok', ...times(2, 'duplicate_visitor')])
})

test('a reader’s first click and the next, which brings the cookie, are one paid click of a link', async () => {
  const reader = newReader()
  const reasons = await reasonsOf(async () => {
    const cookie = (await click(link, reader))?.split(';')[0] ?? ''
    await click(link, { ...reader, cookie })
  })
  assert.deepEqual(reasons, ['ok', 'duplicate_visitor'])
})

test('of 12 links of a newsletter that one client opens at once three are paid', async () => {
  const reader = newReader()
  const reasons = await reasonsOf(() =>
    Promise.all(links.map((auctionId) => click(auctionId, reader))),
  )
  const expected = [...times(3, 'ok'), ...times(7, 'scanner'), ...times(2, 'address_limit')]
  assert.deepEqual(reasons.sort(), expected.sort())
})

test('one address that changes its user agent has ten clicks an hour paid on a campaign, 50 a day', async () => {
  const address = newReader()
  const hour = (name: string) => async () => {
    for (let at = 0; at < 12; at += 1)
      await click(link, { ...address, 'user-agent': agent(name, at) })
  }
  for (let at = 0; at < 5; at += 1) {
    const reasons = await reasonsOf(hour(`${at}`))
    assert.deepEqual(reasons, [...times(10, 'ok'), ...times(2, 'address_limit')], `hour ${at}`)
    clockAheadMs += 3_600_000
  }
  assert.deepEqual(await reasonsOf(hour('6')), times(12, 'address_limit'))
})

test('the operator sets a campaign’s limits per address, and clicks follow them within seconds', async () => {
  const settings = {
    DATABASE_URL: String(api.app.config.databaseUrl),
    SOUK_DATA: api.app.config.dataDir,
  }
  const update = (...args: string[]) =>
    souk<Record<string, unknown>>(
      settings,
      'campaign',
      'update',
      '--id',
      String(campaignId),
      ...args,
    )
  const changed = await update('--clicks-per-address-hour', '2', '--clicks-per-address-day', '3')
  assert.deepEqual([changed.clicks_per_address_hour, changed.clicks_per_address_day], [2, 3])
  await until(
    () => api.app.node.edge.market.campaigns.get(campaignId)?.clicks_per_address_hour === 2,
  )
  const address = newReader()
  const reasons = await reasonsOf(async () => {
    for (let at = 0; at < 4; at += 1)
      await click(link, { ...address, 'user-agent': agent('x', at) })
    clockAheadMs += 3_600_000
    for (let at = 4; at < 7; at += 1)
      await click(link, { ...address, 'user-agent': agent('x', at) })
  })
  const limited = (many: number) => times(many, 'address_limit')
  assert.deepEqual(reasons, ['ok', 'ok', ...limited(2), 'ok', ...limited(2)])
  const back = await update('--clicks-per-address-hour', '', '--clicks-per-address-day', '')
  assert.deepEqual([back.clicks_per_address_hour, back.clicks_per_address_day], [10, 50])
  await until(
    () => api.app.node.edge.market.campaigns.get(campaignId)?.clicks_per_address_hour === 10,
  )
})

test('addresses of one IPv6 /64 are one address unit', async () => {
  const reasons = await reasonsOf(async () => {
    for (const end of ['1', '2', 'a:b:c:d']) {
      await click(link, {
        'x-forwarded-for': `2001:db8:7:1:${end.includes(':') ? end : `:${end}`}`,
      })
    }
  })
  assert.deepEqual(reasons, ['ok', ...times(2, 'duplicate_visitor')])
})

test('the rules by address leave loopback, private and link-local addresses alone', async () => {
  for (const local of [
    '127.0.0.1',
    '10.1.2.3',
    '192.168.1.9',
    '169.254.7.7',
    '::1',
    'fe80::1',
    'fd00::1',
  ]) {
    const reasons = await reasonsOf(async () => {
      for (let at = 0; at < 4; at += 1) await click(link, { 'x-forwarded-for': local })
    })
    assert.deepEqual(reasons, times(4, 'ok'), local)
  }
})

test('a load for anything but a document is redirected and unpaid, with a gesture or without', async () => {
  const loads: Record<string, string>[] = [
    'iframe',
    'frame',
    'object',
    'embed',
    'image',
    'empty',
    'script',
  ].flatMap((dest) => [
    { 'sec-fetch-dest': dest },
    { 'sec-fetch-dest': dest, 'sec-fetch-user': '?1' },
  ])
  const reasons = await reasonsOf(async () => {
    for (const load of loads) await click(link, { ...newReader(), ...load })
  })
  assert.deepEqual(reasons, times(loads.length, 'embedded'))
  const opened = await reasonsOf(() =>
    click(link, { ...newReader(), 'sec-fetch-dest': 'document' }),
  )
  assert.deepEqual(opened, ['ok'])
})

test('prefetches, previews and HTTP libraries are redirected and unpaid, each with its reason', async () => {
  const signals = [
    ...[
      { 'sec-purpose': 'prefetch;prerender' },
      { purpose: 'preview' },
      { 'x-purpose': 'preview' },
    ],
    ...[{ 'x-moz': 'prefetch' }, { 'sec-purpose': 'PREFETCH' }],
  ] as Record<string, string>[]
  const programs = ['Dart/3.5 (dart:io)', 'News/1 CFNetwork/1494.0.7 Darwin/23.4.0', 'curl/8.9.1']
  const reasons = await reasonsOf(async () => {
    for (const signal of signals) await click(link, { ...newReader(), ...signal })
    for (const program of programs) await click(link, { ...newReader(), 'user-agent': program })
  })
  assert.deepEqual(reasons, [...times(signals.length, 'prefetch'), ...times(3, 'robot')])
})

test('reconcile finds no difference in the clicks of all these attacks', async () => {
  const { differences, clicks } = await reconcile(api.db, { from: null, to: null })
  assert.deepEqual(differences, [])
  assert.ok(clicks > 100)
})

function agent(name: string, at: number): string {
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${at}.${name} Safari/537.36`
}
