/** The dashboard in a real browser, with the real service. Pages load nothing from other hosts. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUser } from '../src/accounts/create-account.ts'
import { updatePublisher } from '../src/accounts/publisher-store.ts'
import { addUnattributed } from '../src/links/unattributed-store.ts'
import { signBody } from '../src/orders/signed-request.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { utcDay } from '../src/platform/time/timestamp.ts'
import { startApi } from '../test/support/api.ts'
import { follow, type Market, makeMarket, runAuction, until } from '../test/support/market.ts'
import { logIn, logOut, type Visit, visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const market: Market = await makeMarket(api)
const { kettles, pans, account } = market
await market.campaign(kettles)
await market.campaign(pans, { bid_micros: null, model: 'cpa', rate_ppm: 20_000 })

const visit = (t: TestContext, path: string, width?: number): Promise<Visit> =>
  visitPage(t, { service: api.url, path, width })

/** Clicks a new link as a reader. The result's receipt is stored when this resolves. */
async function clickOnce(headers: Record<string, string> = {}, article?: string): Promise<void> {
  const link = await market.link(undefined, article === undefined ? {} : { article })
  const { auction_result } = await runAuction(api, link)
  await sleep(320) // The service rejects clicks within 300 ms as automatic.
  const { status } = await follow(api, auction_result.redirect_url, headers)
  assert.equal(status, 302)
  await api.app.untilFolded()
}

async function setShare(share_ppm: number): Promise<void> {
  const { pubId } = account
  await updatePublisher(api.db, { pubId, changes: { share_ppm } })
  await until(() => api.app.node.edge.market.publishers.get(pubId)?.share_ppm === share_ppm)
}

const statusOf = async (key: string): Promise<number> =>
  (await api.call('/api/v1/tokeninfo/', { key })).status

test('an API key created on the developer options page works until it is disabled there', async (t) => {
  const { page } = await visit(t, '/dashboard/developer')
  await logIn(page, account)
  await page.getByLabel('What is it for?').fill('my script')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = (await page.locator('#new-key').textContent()) ?? ''
  assert.match(key, /^souk_/)
  assert.equal(await statusOf(key), 200)
  assert.ok((await page.getByRole('region', { name: 'Try it' }).textContent())?.includes(key))

  await page.reload()
  await page.getByText('last used').waitFor()
  assert.ok(!(await page.content()).includes(key), 'a key is shown once')

  await page.getByRole('button', { name: 'Disable my script' }).click()
  assert.equal(await statusOf(key), 200, 'asked, not done')
  await page.getByRole('button', { name: 'Disable it' }).click()
  await page.getByText('Disabled', { exact: true }).waitFor()
  assert.equal(await statusOf(key), 401)
})

test('a user without an organization sees how to get one', async (t) => {
  const merchant = { email: 'shop@kettles.example', password: 'a long password' }
  await createUser(api.db, { ...merchant, isAdmin: false })
  const { page } = await visit(t, '/dashboard/')
  await logIn(page, merchant)
  await page.getByText('Ask the operator of this service').waitFor()
  const title = 'Your account has no organization yet'
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  assert.equal(await page.title(), `${title} · Souk`)
  await page.getByRole('link', { name: 'Developer', exact: true }).click()
  await page.getByText('Only owners and managers have this').waitFor()
})

test('reports a wrong password, and opens the requested page after the right one', async (t) => {
  const { page } = await visit(t, '/dashboard/clicks')
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password').fill('not the password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Wrong e-mail address or password').waitFor()
  await logIn(page, account)
  await page.getByRole('heading', { name: 'Clicks', exact: true }).waitFor()
  await logOut(page)
  await page.getByLabel('Password').waitFor()
})

test('the overview shows a click within seconds, without a reload', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  await logIn(page, account)
  const clicks = page.getByRole('button', { name: /^Clicks/ })
  const before = Number((await clicks.textContent())?.match(/\d+/)?.[0])
  await clickOnce()
  await page.getByRole('button', { name: new RegExp(`^Clicks\\s*${before + 1}`) }).waitFor()
  await page.getByRole('rowheader', { name: 'kettles Kettles' }).waitFor()
  await page.getByRole('button', { name: 'Sales' }).last().click()
  await page.locator('th[aria-sort=descending]').getByText('Sales').waitFor()
  const picture = page.getByRole('img', { name: /^Earnings per day, .*: most on/ })
  await picture.locator('canvas').waitFor()
})

test('each click shows its reason, and its receipt shows why one merchant won and the other lost', async (t) => {
  await setShare(701_325)
  t.after(() => setShare(750_000))
  await clickOnce()
  await clickOnce({ 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' })
  const { page } = await visit(t, '/dashboard/clicks')
  await logIn(page, account)
  await page.getByRole('button', { name: 'Unpaid' }).click()
  const lines = page.getByRole('main').getByRole('listitem')
  await lines.getByText('Unpaid. Bot').waitFor()
  await page.getByRole('button', { name: 'Valid' }).click()
  await lines.getByText('Paid. The merchant pays').first().waitFor()
  await page.getByRole('link', { name: 'Receipt' }).first().click()
  const heading = page.getByRole('heading', { name: /^Kettles won at \$0\.\d+ per click$/ })
  // Names written from right to left do not reorder the price.
  assert.equal(await heading.locator('bdi').innerText(), 'Kettles')
  const candidates = page.getByRole('region', { name: '2 candidates' }).getByRole('listitem')
  assert.match((await candidates.nth(0).textContent()) ?? '', /Kettles.*Won/)
  assert.match((await candidates.nth(1).textContent()) ?? '', /Pans.*Lost/)
  await page.getByText('Replay verified').waitFor()
  // The full precision, so that the price can be checked.
  await page.getByText('You earn (70.1325 %)').waitFor()
  // Neither the winner's bid nor a bar that would measure it; the rival's score set the price.
  await candidates.nth(0).getByText('$0.32 to under $0.64').waitFor()
  await candidates
    .nth(1)
    .getByText(/Its score is \$0\.\d+, which set the price/)
    .waitFor()
  await page.getByText('A bid that did not set the price is shown as a range').waitFor()
  assert.equal(await candidates.getByRole('meter').count(), 0)
})

test('an order and its return show their earnings and link to the click’s receipt', async (t) => {
  const link = await market.link('https://pans.example/p/1', { isExclusive: true, article: 'pans' })
  const { auction_result } = await runAuction(api, link)
  await sleep(320)
  const { location } = await follow(api, auction_result.redirect_url)
  await buy('R-1001', new URL(location).searchParams.get('cid') ?? '')
  const { page } = await visit(t, '/dashboard/')
  await logIn(page, account)
  await page.getByRole('main').getByRole('link', { name: 'order', exact: true }).click()
  const line = page.getByRole('main').getByRole('listitem').filter({ hasText: 'order R-1001' })
  // 2 % of $49, of which three quarters.
  await line.getByText('$0.735', { exact: true }).waitFor()
  await line.getByText(/^A commission, not final until /).waitFor()
  await line.getByRole('link', { name: 'Receipt' }).click()
  await page.getByText('Valid. If the reader buys, the commission appears').waitFor()
  await report('returns', { returns: [{ id: 'B-1', order_id: 'R-1001', line: 0 }] })
  await page.goto(`${api.url}/dashboard/orders`)
  const back = page.getByRole('region', { name: 'Returns' }).getByRole('listitem')
  await back.getByText('−$0.735', { exact: true }).waitFor()
  await back.getByText(/^One item returned from an order of .*\.$/).waitFor()
})

function buy(id: string, click_id: string): Promise<void> {
  const order = { id, value: '49.00', currency: 'USD', click_id }
  return report('orders', { orders: [{ order, products: [{ id: '1', price: '49.00' }] }] })
}

/** Sends a signed report as the shop's server does. */
async function report(of: 'orders' | 'returns', body: object): Promise<void> {
  const secret = await api.db.row<{ postback_secret: string }>(
    sql`select postback_secret from merchant where merch_id = ${pans}`,
  )
  const timestamp = String(Math.floor(api.app.node.now() / 1000))
  const payload = Buffer.from(JSON.stringify(body))
  const signature = signBody(secret?.postback_secret ?? '', timestamp, payload).toString('hex')
  const { status, text } = await api.call(`/api/v1/merchants/${pans}/${of}/`, {
    body,
    headers: { 'x-souk-timestamp': timestamp, 'x-souk-signature': signature },
  })
  assert.equal(status, 201, text)
  await api.app.untilFolded()
}

test('a smart link created in the dashboard leads to its product', async (t) => {
  const { page } = await visit(t, '/dashboard/links', 390)
  await logIn(page, account)
  await page.getByRole('button', { name: 'New link' }).click()
  await page.getByRole('textbox', { name: 'Product page' }).fill('https://elsewhere.example/p/9')
  await page.getByLabel('Article', { exact: true }).fill('Mugs')
  await page.getByLabel('URL of the article').fill('https://daily.example/mugs')
  await page.getByRole('button', { name: 'Create link' }).click()
  const address = (await page.getByRole('status').locator('code').textContent()) ?? ''
  await page.getByText('elsewhere.example/p/9').waitFor()
  const auction = await runAuction(api, address.split('/').at(-1) ?? '')
  const target = new URL(auction.auction_result.redirect_url).searchParams.get('url')
  assert.equal(target, 'https://elsewhere.example/p/9')
})

test('the search finds a link by its article, and can be cleared', async (t) => {
  const of = (article: string) => market.link(`https://elsewhere.example/${article}`, { article })
  await Promise.all([of('tea'), of('eggs')])
  const { page } = await visit(t, '/dashboard/links')
  await logIn(page, account)
  await page.getByText('elsewhere.example/tea').waitFor()
  await page.getByRole('searchbox', { name: 'Find links' }).fill('daily.example/eggs')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.waitForURL(/find=/)
  await page.reload() // The URL contains the search.
  await page.getByText('elsewhere.example/eggs').waitFor()
  assert.equal(await page.getByText('elsewhere.example/tea').count(), 0)
  await page.goto(`${api.url}/dashboard/links?find=samovar`)
  await page.getByText('No smart link with “samovar”').waitFor()
  await page.getByRole('button', { name: 'Show all links' }).click()
  await page.getByText('elsewhere.example/tea').waitFor()
})

test('shows the wrapper clicks that earned nothing, the largest first, on a phone too', async (t) => {
  const names = (at: number) => ({ slug: 'x'.repeat(64 - at), host: 'daily.example' })
  const rows = Array.from({ length: 12 }, (_, at) => ({
    ...{ ...names(at), targetHost: 'xn--bcher-kva.example', redirects: 12 - at },
  }))
  await addUnattributed(api.db, { day: utcDay(Date.now()), rows })
  const { page } = await visit(t, '/dashboard/links', 390)
  await logIn(page, account)
  const summary = page.getByText('78 clicks on wrapper links earned you nothing')
  await summary.click()
  await page.getByText('publisher_slug=daily in their URLs').waitFor()
  const shown = page.locator('details li')
  assert.equal(await shown.count(), 10)
  assert.deepEqual((await shown.first().innerText()).split('\n').filter(Boolean), [
    `publisher_slug=${'x'.repeat(64)}`,
    'From daily.example to bücher.example',
    '12 clicks',
  ])
  await page.getByText('2 more. The API’s unattributed_redirects/ lists all of them.').waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390)
  await page.goto(`${api.url}/dashboard/links?find=kettles`)
  await page.getByRole('button', { name: 'Find' }).waitFor()
  assert.equal(await summary.count(), 0, 'a search shows links alone')
})

test('no page is wider than a phone, and the keyboard reaches every page', async (t) => {
  const { page } = await visit(t, '/dashboard/', 390)
  await logIn(page, account)
  for (const name of ['Overview', 'Links', 'Clicks', 'Orders', 'Payments', 'Developer']) {
    await page.getByRole('button', { name: 'Menu', exact: true }).press('Enter')
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('navigation').waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(over <= 0, `${name} is ${over} px too wide`)
  }
})

test('the next user sees nothing of the previous account, in any tab', async (t) => {
  const next = { email: 'next@daily.example', password: 'a long password' }
  await createUser(api.db, { ...next, isAdmin: false })
  const { page } = await visit(t, '/dashboard/')
  await logIn(page, account)
  await page.getByRole('link', { name: 'Links' }).click()
  await page.getByRole('heading', { name: 'Smart links' }).waitFor()

  // The session expires, and a call finds out.
  await page.context().clearCookies()
  await page.getByRole('link', { name: 'Clicks' }).click()
  await logIn(page, next)
  await page.getByText('Ask the operator of this service').waitFor()

  const other = await page.context().newPage()
  await other.goto(`${api.url}/dashboard/developer`)
  await logOut(other)
  await page.getByLabel('Password').waitFor()
  await logIn(other, account)
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByText(account.email).waitFor()
})

test('a call without a session brings back the log-in form', async (t) => {
  const { page } = await visit(t, '/dashboard/developer')
  await logIn(page, account)
  await page.getByLabel('What is it for?').fill('my script')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Password').waitFor()
})

test('reports a log-out that did not reach the service', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/developer')
  await logIn(page, account)
  await page.route('**/api/v1/session/', (route) => route.abort())
  await logOut(page)
  await page.getByRole('alert').getByText('The service does not respond').waitFor()
  troubles.length = 0 // The interrupted call.
})

test('the figures stay visible with a long article name', async (t) => {
  await clickOnce({}, 'kettle'.repeat(40))
  for (const width of [768, 1280]) {
    const { page } = await visit(t, '/dashboard/', width)
    await logIn(page, account)
    const figures = page.getByRole('region', { name: 'By article and merchant' })
    await figures.getByRole('link', { name: /^(kettle){40}$/ }).waitFor()
    const last = await page.getByRole('columnheader', { name: 'Revenue' }).boundingBox()
    assert.ok(last !== null && last.x + last.width <= width, `${width}: ${JSON.stringify(last)}`)
  }
})

test('days can be typed, or chosen in the calendar by keyboard', async (t) => {
  const { page } = await visit(t, '/dashboard/clicks?from=2026-01-05&to=2026-01-20')
  await logIn(page, account)
  const button = page.getByRole('button', { name: /^Days: / })
  await button.click()
  await page.getByRole('textbox', { name: 'First day' }).fill('2026-02-30') // No such day, so the last valid one stays.
  await page.getByRole('textbox', { name: 'Last day' }).fill('2026-02-13')
  await page.getByRole('textbox', { name: 'Last day' }).press('Enter')
  await page.waitForURL(/from=2026-01-05&to=2026-02-13/)
  await button.click()
  const day = page.getByRole('table', { name: 'Choose the first day' }).locator('[tabindex="0"]')
  await day.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Show these days' }).click()
  await page.waitForURL(/from=2026-02-20&to=2026-02-21/)
})

test('the URL preserves the state of the page, and invalid parts are ignored', async (t) => {
  const { page } = await visit(t, '/dashboard/clicks?from=2026-02-30&to=2026-03-02')
  await logIn(page, account)
  await page.getByRole('button', { name: /^Days: Last 30 days/ }).waitFor()
  const unpaid = page.getByRole('button', { name: 'Unpaid', pressed: true })
  await page.getByRole('button', { name: 'Unpaid' }).click()
  await unpaid.waitFor()
  await page.reload()
  await unpaid.waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'All', pressed: true }).waitFor()

  await page.getByRole('link', { name: 'Overview' }).click()
  await page
    .getByRole('button', { name: /^Page views/ })
    .first()
    .click()
  await page.reload()
  await page.getByRole('img', { name: /^Page views per day/ }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Clicks', exact: true }).waitFor()
})

test('every page has its own title and heading', async (t) => {
  const { page, troubles, requests } = await visit(t, '/dashboard/')
  await page.waitForFunction(() => document.title === 'Log in · Souk')
  await logIn(page, account)
  for (const [path, title] of [
    ['links', 'Smart links'],
    ['clicks', 'Clicks'],
    ['orders', 'Orders'],
    ['developer', 'Developer options'],
    ['nothing', 'Page not found'],
    ['receipts/0', 'Receipt'],
  ] as const) {
    await page.goto(`${api.url}/dashboard/${path}`)
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
    await page.waitForFunction((words) => document.title === words, `${title} · Souk`)
  }
  const asked = requests.filter((url) => url.includes('/receipts/0/'))
  assert.equal(asked.length, 1, 'what was refused is not asked for again')
  troubles.length = 0 // The refused call.
})

test('the keyboard focus stays on the key that asks for confirmation', async (t) => {
  const { page } = await visit(t, '/dashboard/developer')
  await logIn(page, account)
  await page.getByLabel('What is it for?').fill('kept')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Disable kept' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Disable it' }).waitFor()
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Cancel')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Disable kept' }).waitFor()
})

test('pages load nothing from other hosts but pictures in the dashboard, and unknown calls get a proper error', async () => {
  for (const path of ['/dashboard/', '/dashboard/clicks', '/docs/', '/docs', '/docs/errors']) {
    const { status, headers } = await api.call(path)
    assert.equal(status, 200, path)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'self';.*require-trusted-types-for 'script'/)
    const images = /img-src ([^;]*)/.exec(policy)?.[1] ?? null
    assert.equal(images, path.startsWith('/dashboard') ? "'self' https:" : null, path)
    assert.equal(headers.get('x-frame-options'), 'DENY')
  }
  assert.equal((await api.call('/dashboard/api/nothing/')).failure().code, 4040)
  assert.equal((await api.call('/dashboard/assets/gone.js')).status, 404)
})

test('the dashboard and the documentation are compressed for clients that accept it', async () => {
  const { text } = await api.call('/dashboard/')
  const script = /src="([^"]+\.js)"/.exec(text)?.[1] ?? ''
  for (const path of [script, '/docs/', '/docs/search.json', '/openapi.json']) {
    for (const [taken, sent] of [
      ['gzip, deflate, br', 'gzip'],
      ['identity', null],
    ] as const) {
      const answer = await api.call(path, { headers: { 'accept-encoding': taken } })
      assert.equal(answer.headers.get('content-encoding'), sent, path)
      assert.match(answer.headers.get('vary') ?? '', /accept-encoding/i)
      assert.ok(answer.text.length > 10_000)
    }
  }
})
