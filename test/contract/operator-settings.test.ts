/** The effect of some configuration variables, seen from outside. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { REASON } from '../../src/events/reason.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startApi } from '../support/api.ts'
import { makeGeoip } from '../support/geoip.ts'
import { follow, KETTLE, makeMarket, runAuction } from '../support/market.ts'
import { scopeOf } from '../support/scope.ts'
import { souk, soukExit } from '../support/souk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder({ after }, 'souk settings ')
const geoip = join(folder, 'country.mmdb')
writeFileSync(geoip, makeGeoip({ '203.0.113.0/24': 'US', '198.51.100.0/25': 'DE' }))
const blocklist = join(folder, 'blocked')
writeFileSync(blocklist, '# a data centre\n203.0.113.64/26\n2001:db8:5::/48 # another\n')

/** A market whose only campaign targets readers in the United States. */
async function openMarket(t: TestContext, env: Record<string, string>) {
  const api = await startApi(scopeOf(t), { env })
  const market = await makeMarket(api)
  const command = { DATABASE_URL: String(api.app.config.databaseUrl), SOUK_DATA: folder }
  const args = ['campaign', 'create', '--merchant', String(market.kettles), '--model', 'cpc']
  const campaign = [...args, '--bid', '0.60', '--country', 'us']
  return { api, market, command, campaign }
}

for (const { source, env, american, german } of [
  {
    source: 'the header that GEO_HEADER names',
    env: { GEO_HEADER: 'X-Reader-Country' },
    american: { 'x-reader-country': 'us' },
    german: { 'x-reader-country': 'DE' },
  },
  {
    source: 'the database of GEOIP_DB',
    env: { GEOIP_DB: geoip, TRUSTED_PROXIES: '127.0.0.0/8' },
    american: { 'x-forwarded-for': '203.0.113.9' },
    german: { 'x-forwarded-for': '198.51.100.9' },
  },
]) {
  test(`a country comes from ${source}, and a reader of another or no country gets no bid`, async (t) => {
    const { api, market, command, campaign } = await openMarket(t, env)
    // The command's own environment knows no countries; the server's does.
    const made = await souk<{ campaign_id: number; country: string[] }>(command, ...campaign)
    assert.deepEqual(made.country, ['US'])
    await api.untilKnown(made)
    const link = await market.link()
    const isPaid = async (headers: Record<string, string>) => {
      const { auction_result: result } = await runAuction(api, link, { headers })
      await sleep(310) // The service treats a click within 300 ms as a program's.
      const { location } = await follow(api, result.redirect_url, headers)
      return new URL(location).searchParams.has('cid')
    }
    assert.equal(await isPaid(american), true)
    assert.equal(await isPaid(german), false)
    assert.equal(await isPaid({}), false)
    assert.equal(await isPaid({ 'x-forwarded-for': 'nonsense', 'x-reader-country': '??' }), false)
  })
}

test('without either, a campaign with a country list is refused with that reason', async (t) => {
  const { command, campaign } = await openMarket(t, {})
  const { stderr } = await soukExit(command, 1, ...campaign, '--json')
  assert.match(stderr, /^country: .*GEO_HEADER or GEOIP_DB/)
})

test('X-Forwarded-For counts only from TRUSTED_PROXIES', async (t) => {
  const { api, market } = await openMarket(t, { GEOIP_DB: geoip, TRUSTED_PROXIES: '192.0.2.0/24' })
  await market.campaign(market.pans, { countries: ['US'] })
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  const { auction_result: result } = await runAuction(api, await market.link(), { headers })
  assert.equal(new URL(result.redirect_url).searchParams.get('url'), KETTLE)
  await follow(api, result.redirect_url, headers)
  await api.app.untilFolded()
  assert.deepEqual(await api.db.rows(sql`select country from event`), [{ country: null }])
})

test('clicks from addresses of IP_BLOCKLIST are redirected and not paid', async (t) => {
  const env = { IP_BLOCKLIST: blocklist, TRUSTED_PROXIES: '127.0.0.1' }
  const { api, market } = await openMarket(t, env)
  await market.campaign(market.kettles)
  const link = await market.link()
  const reasonOf = async (address: string) => {
    const headers = { 'x-forwarded-for': address }
    const { auction_result: result } = await runAuction(api, link, { headers })
    await sleep(310)
    const { status, location } = await follow(api, result.redirect_url, headers)
    assert.equal(status, 302)
    assert.equal(new URL(location).hostname, 'kettles.example')
    await api.app.untilFolded()
    const row = await api.db.row<{ reason: number; paid: boolean }>(sql`
      select reason, merchant_cost_micros > 0 as paid from click order by event_id desc limit 1`)
    return row
  }
  const blocked = { reason: REASON.blockedAddress, paid: false }
  assert.deepEqual(await reasonOf('203.0.113.65'), blocked)
  assert.deepEqual(await reasonOf('2001:db8:5::7'), blocked)
  assert.deepEqual(await reasonOf('203.0.113.63'), { reason: REASON.ok, paid: true })
})
