/** The dashboard and the API reference in print. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../src/platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../src/platform/time/timestamp.ts'
import { startApi } from '../test/support/api.ts'
import { follow, makeMarket, runAuction } from '../test/support/market.ts'
import { chooseDays, logIn, visitAs, visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const market = await makeMarket(api)
await market.campaign(market.kettles)
const { auction_result } = await runAuction(api, await market.link())
await sleep(320) // The service rejects clicks within 300 ms as automatic.
await follow(api, auction_result.redirect_url)
await api.app.untilFolded()

test('a print includes every open day and the winner', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/clicks' })
  await logIn(page, market.account)
  await page.getByRole('link', { name: 'Receipt' }).click()
  await page.emulateMedia({ media: 'print' })
  const won = page.getByText('Won', { exact: true })
  const adjust = await won.evaluate((one) => getComputedStyle(one).printColorAdjust)
  assert.equal(adjust, 'exact', 'its letters are of the colour of paper')

  await page.emulateMedia({ media: null })
  await page.goto(`${api.url}/dashboard/`)
  await chooseDays(page, 'Last 90 days')
  await page.locator('summary').click()
  const days = page.getByRole('region', { name: 'Figures by day' })
  const hidden = () => days.evaluate((one) => one.scrollHeight - one.clientHeight)
  assert.ok((await hidden()) > 0)
  await page.emulateMedia({ media: 'print' })
  assert.equal(await hidden(), 0)
})

test('a print has every row of a long table, also those that were not drawn', async (t) => {
  const yesterday = utcDay(Date.now() - DAY_MS)
  await api.db.run(sql`
    insert into figure_day (pub_id, property, day, value, clicks, invalid_clicks, orders,
      revenue_micros, earnings_micros)
    select ${market.account.pubId}, 'country', ${yesterday}::date,
      chr(65 + n / 26) || chr(65 + n % 26), 1, 0, 0, 0, 10000
    from generate_series(0, 149) as n`)
  const path = `/dashboard/performance?by=country&from=${yesterday}&to=${yesterday}`
  const { page } = await visitAs(market.account, t, { service: api.url, path })
  const rows = page.getByRole('table', { name: 'Countries' }).getByRole('rowheader')
  await rows.nth(5).waitFor()
  assert.ok((await rows.count()) < 100)
  await page.evaluate(() => void dispatchEvent(new Event('beforeprint')))
  assert.equal(await rows.count(), 151, 'and the totals')
  await page.evaluate(() => void dispatchEvent(new Event('afterprint')))
  await rows.nth(150).waitFor({ state: 'detached' })
})

test('the chart fits on paper, narrower than the window, in dark colors', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/' })
  await logIn(page, market.account)
  // A browser prints the page as drawn and does not report the width of the paper.
  await page.addInitScript('ResizeObserver.prototype.observe = () => undefined')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.reload()
  const bars = page.getByRole('img')
  await bars.locator('canvas').waitFor()
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await page.setViewportSize({ width: 718, height: 1000 })
  const [inner, outer] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
  ])
  assert.equal(inner, outer, 'all of the page would be shrunk')
  const filter = await bars.evaluate((one) => getComputedStyle(one).filter)
  assert.match(filter, /invert/, 'they were drawn for a dark screen')
})

test('printing never splits an entry or orphans a heading', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/clicks' })
  await logIn(page, market.account)
  await page.getByRole('link', { name: 'Receipt' }).click()
  const facts = page.getByRole('heading', { name: 'Inputs of the auction' })
  assert.equal(await facts.evaluate((one) => getComputedStyle(one).breakAfter), 'avoid')
  const clicks = page.getByRole('listitem').last()
  assert.equal(await clicks.evaluate((one) => getComputedStyle(one).breakInside), 'avoid')
})

test('a print leaves out the menu', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/clicks' })
  await logIn(page, market.account)
  await page.emulateMedia({ media: 'print' })
  assert.ok(await page.getByRole('navigation').isHidden())
  assert.ok(await page.getByRole('button', { name: 'Account menu' }).isHidden())
  assert.ok(await page.getByRole('heading', { level: 1 }).isVisible())
})

test('a print of the API reference includes every call in full', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/docs/api/publishers/' })
  await page.emulateMedia({ media: 'print' })
  await page.setViewportSize({ width: 718, height: 1000 })
  const cut = await page
    .locator('.code')
    .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length)
  assert.equal(cut, 0)
})
