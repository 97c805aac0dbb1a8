/** A merchant's pages: its costs and their reasons, its campaigns, its refused reports. */
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { createUser } from '../src/accounts/create-account.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { findMerchant, insertMerchant, updateMerchant } from '../src/catalog/merchant-store.ts'
import { signBody } from '../src/orders/signed-request.ts'
import { micros } from '../src/platform/money/money.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { type Account, startApi } from '../test/support/api.ts'
import { follow, makeMarket, runAuction, until, untilReceipt } from '../test/support/market.ts'
import type { Explanation } from './api.ts'
import { switchTo, visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const market = await makeMarket(api)
const { account, kettles, pans } = market
const publisher = account.publishers[0]?.name ?? ''
const shop = { email: 'shop@kettles.example', password: 'a long password' }
const { uid } = await createUser(api.db, { ...shop, isAdmin: false })
await updateMerchant(api.db, { merchId: kettles, changes: { uid } })
const campaignId = await market.campaign(kettles, {
  bid_micros: micros(400_000),
  daily_budget_micros: micros(1_000_000),
})
await market.campaign(pans, { bid_micros: null, model: 'cpa', rate_ppm: 20_000 })

const visit = (t: TestContext, by: Pick<Account, 'email' | 'password'>) =>
  visitAs({ ...account, ...by }, t, { service: api.url, path: '/dashboard/' })
const accountOf = (page: Page) => page.getByRole('region', { name: 'Account entries' })

/** Opens another page of the merchant by the menu. */
const go = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()

/** Calls the API with the page's session. */
async function ask<T>(page: Page, path: string) {
  const answer = await page.request.get(`${api.url}/api/v1/${path}`)
  return { status: answer.status(), json: (await answer.json()) as { data: T[] } }
}

/** Clicks a link that only this merchant can win, and returns the click's id. */
async function click(url: string): Promise<string> {
  const entry = await runAuction(api, await market.link(url, { isExclusive: true }))
  await sleep(320) // The service rejects clicks within 300 ms as automatic.
  const { location } = await follow(api, entry.auction_result.redirect_url)
  await untilReceipt(api, entry)
  await api.app.untilFolded()
  return new URL(location).searchParams.get('cid') ?? ''
}

/** Sends an order as the shop's server does, and returns the status. */
async function report(merchId: number, order: object): Promise<number> {
  const body = { orders: [{ order, products: [] }] }
  const secret = (await findMerchant(api.db, merchId))?.postback_secret ?? ''
  const timestamp = String(Math.floor(api.app.node.now() / 1000))
  const signature = signBody(secret, timestamp, Buffer.from(JSON.stringify(body)))
  const { status } = await api.call(`/api/v1/merchants/${merchId}/orders/`, {
    body,
    headers: { 'x-souk-timestamp': timestamp, 'x-souk-signature': signature.toString('hex') },
  })
  await api.app.untilFolded()
  return status
}

test('a merchant’s account opens its merchant page and lists no publisher pages', async (t) => {
  const { page } = await visit(t, shop)
  await page.getByRole('heading', { level: 1, name: 'Kettles' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/dashboard/merchant')
  const menu = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
  assert.deepEqual(await menu.allTextContents(), [
    ...['Overview', 'Performance', 'Orders', 'Set-up', 'Feed', 'Products', 'Campaigns', 'Tag'],
    ...['Settings', 'Invoices', 'Account', 'Members', 'Changes', 'Webhooks', 'Developer'],
  ])
  await page.getByText('Running', { exact: true }).waitFor()
  await go(page, 'Account')
  await page.getByRole('heading', { name: 'No entries in this period' }).waitFor()
})

test('a merchant sees the cost of a click, its reason, and a spent daily budget', async (t) => {
  await click('https://kettles.example/p/1')
  const { page } = await visit(t, shop)
  await page.getByText(`Campaign ${campaignId}: up to $0.40 a click`).waitFor()
  await page.getByText('$0.40 of $1.00').waitFor()
  await go(page, 'Account')
  const entries = accountOf(page)
  await entries.getByRole('row', { name: 'Click' }).getByText('$0.40').waitFor()
  await entries.getByRole('button', { name: 'Click' }).click()
  const why = page.getByRole('dialog')
  await why.getByText('$0.40: an exclusive link costs the campaign').waitFor()
  await why.getByText('Replay verified').waitFor()
  await why.getByRole('button', { name: 'Close' }).click()

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'as CSV' }).click(),
  ])
  assert.match(download.suggestedFilename(), /^souk_ledger_.*\.csv$/)
  assert.match(await text(await download.createReadStream()), /,click,.*,-0\.40,/)

  await click('https://kettles.example/p/1')
  await go(page, 'Overview')
  await page.reload()
  await page.getByText('$0.80 of $1.00').waitFor()
  await page.getByText('Today’s budget spent').waitFor()
  const clicks = page.getByRole('region', { name: 'Clicks' })
  await clicks.getByText('Valid clicks', { exact: true }).waitFor()
  assert.equal(await clicks.getByRole('definition').innerText(), '2')
})

test('a merchant sees the rate behind an order’s cost, and which orders were refused', async (t) => {
  await updateMerchant(api.db, { merchId: pans, changes: { uid } })
  const cid = await click('https://pans.example/p/1')
  const order = { id: 'A-1', value: '100.00', currency: 'USD', click_ids: [cid] }
  assert.equal(await report(pans, order), 201)
  assert.equal(await report(pans, { ...order, id: 'A-2', value: '-1' }), 400)
  const { page } = await visit(t, shop)
  await switchTo(page, 'Pans')
  await page.getByRole('heading', { level: 1, name: 'Pans' }).waitFor()
  await page.getByRole('row', { name: `${publisher} $2.00 1 1 $100.00` }).waitFor()
  await go(page, 'Account')
  await accountOf(page).getByRole('button', { name: 'Order A-1' }).click()
  const why = page.getByRole('dialog')
  await why.getByText('2 % of $100.00 is $2.00. You may cancel it until').waitFor()
  await why.getByRole('button', { name: 'Close' }).click()
  await go(page, 'Orders')
  await page.getByText('must be a decimal such as "105.00", not negative').waitFor()
})

test('an account with a publisher and a merchant has the pages of both, and can switch', async (t) => {
  await updateMerchant(api.db, { merchId: pans, changes: { uid: account.uid } })
  const { page } = await visit(t, account)
  await page.getByRole('heading', { level: 1, name: publisher }).waitFor()
  await switchTo(page, 'Pans')
  await page.getByRole('heading', { level: 1, name: 'Pans' }).waitFor()
  const { status } = await ask(page, `merchants/${kettles}/refused_reports/`)
  assert.equal(status, 403)
})

test('in an auction that a rival won, a merchant sees only its own numbers', async (t) => {
  await click('https://kettles.example/p/1')
  await click('https://elsewhere.example/p/1') // No merchant sells this product, so none took part.
  const receipts = await api.db.rows<{ result: string }>(sql`
    select encode(result_number, 'hex') as result from receipt order by at`)
  const user = { email: 'pans@shop.example', password: 'long enough' }
  const { uid: owner } = await createUser(api.db, { ...user, isAdmin: false })
  await updateMerchant(api.db, { merchId: pans, changes: { uid: owner } })
  const { page } = await visit(t, user)
  const answers = await Promise.all(
    receipts.map(({ result }) => ask<Explanation>(page, `auction_results/${result}/`)),
  )
  assert.equal(answers.filter(({ status }) => status === 404).length, 1)
  const explained = answers.flatMap(({ json }) => json.data)
  assert.ok(
    explained.every(({ candidates }) => candidates.every(({ merch_id }) => merch_id === pans)),
  )
  const won = explained.filter(({ outcome }) => outcome.merch_id === pans)
  assert.equal(won.length, 1)
  const lost = explained.filter((one) => !won.includes(one))
  assert.ok(lost.length > 0 && lost.every(({ outcome }) => outcome.price === null))
})

test('a merchant without a feed learns that its campaigns bid for links to its own pages', async (t) => {
  const own = { name: 'Tents', domains: ['tents.example'], uid }
  const { merch_id: tents } = await insertMerchant(api.db, { ...MERCHANT_DEFAULTS, ...own })
  await market.campaign(tents, { bid_micros: micros(300_000) })
  await click('https://tents.example/')
  const { page } = await visit(t, shop)
  await switchTo(page, 'Tents')
  await page.getByText('Your campaigns bid only for links to your own pages').waitFor()
  await page.getByText('Set-up: 1 of 3 steps done.').waitFor()
  await go(page, 'Account')
  await accountOf(page).getByRole('row', { name: 'Click' }).getByText('$0.30').waitFor()
})

test('a campaign whose budget is reserved for expected orders is not shown as running', async (t) => {
  const own = { name: 'Lids', domains: ['lids.example'], uid }
  const { merch_id: lids } = await insertMerchant(api.db, { ...MERCHANT_DEFAULTS, ...own })
  // Usually 2 of 100 clicks bring an order, so the expected cost of one click exceeds the budget.
  const terms = { bid_micros: null, model: 'cpa', rate_ppm: 1_000_000 } as const
  const waiting = await market.campaign(lids, { ...terms, budget_micros: micros(200_000) })
  await click('https://lids.example/')
  await market.campaign(kettles) // Every market change makes the service check budgets again.
  await until(() => api.app.node.edge.overCap.has(waiting))
  const { page } = await visit(t, shop)
  await switchTo(page, 'Lids')
  await page.getByText('Budget reserved for expected orders').waitFor()
})

const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'

test('a merchant’s page fits the smallest phone, with any names', async (t) => {
  for (const merchId of [kettles, pans]) {
    await updateMerchant(api.db, { merchId, changes: { uid, name: `${LONG} ${merchId}` } })
  }
  const { page } = await visit(t, shop)
  await page.setViewportSize({ width: 320, height: 900 })
  await switchTo(page, `${LONG} ${pans}`)
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
  assert.ok(await fits(), 'overview')
  await page.goto(`${api.url}/dashboard/merchant/account?org=merchant-${pans}`)
  await accountOf(page).getByRole('button', { name: 'Order A-1' }).click()
  await page.getByText('Reported as').waitFor()
  assert.ok(await fits(), 'account')
})
