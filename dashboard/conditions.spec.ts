/**
 * The dashboard in unusual conditions: refused input, an unreachable service, long names, large
 * figures, narrow screens, custom colors.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage } from '../tag/testing/browser.ts'
import { startApi } from '../test/support/api.ts'
import { makeMarket, until } from '../test/support/market.ts'
import type { ClickPage, Overview, User } from './api.ts'
import {
  alter,
  chooseDays,
  focused,
  organizationSwitch,
  switchTo,
  visitAs,
  visitPage,
} from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const env = { BASE_URL: 'http://127.0.0.1', TRUSTED_PROXIES: '127.0.0.1' }
const api = await startApi({ after }, { env })
const { account } = await makeMarket(api)

const visit = (t: TestContext, path: string, width?: number) =>
  visitAs(account, t, { service: api.url, path, width })

test('a refused form shows the fault at its field, focuses it, and keeps the input', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/developer')
  await page.getByLabel('What is it for?').fill('my script')
  await page.getByLabel('Expires').fill('2020-01-01')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Is in the past: the key would never work').waitFor()
  assert.equal(await focused(page), 'datetime_expires')
  const says = page.getByLabel('Expires').and(page.locator('[aria-invalid=true]'))
  assert.equal(await says.getAttribute('aria-describedby'), 'datetime_expires-fault')
  assert.equal(await page.getByLabel('What is it for?').inputValue(), 'my script')

  await page.getByRole('link', { name: 'Links', exact: true }).click()
  await page.getByRole('button', { name: 'New link' }).click()
  await page.getByLabel('Article', { exact: true }).fill('Mugs')
  await page.getByLabel('URL of the article').fill('mailto:mugs@daily.example')
  await page.getByRole('button', { name: 'Create link' }).click()
  await page.getByText('Must be an absolute http(s) URL').waitFor()
  assert.equal(await focused(page), 'article_url')
  troubles.length = 0 // The two refused calls.
})

test('a user with too many log-in attempts sees when to try again', async (t) => {
  const { page, troubles } = await visitPage(t, { service: api.url, path: '/dashboard/' })
  // Attempts from other clients continue.
  await page.setExtraHTTPHeaders({ 'x-forwarded-for': '203.0.113.9' })
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password').fill('guessed')
  await until(async () => {
    // Waits for each response, because one attempt too many would be reported as a separate error.
    const answer = page.waitForResponse('**/api/v1/session/')
    await page.getByRole('button', { name: 'Log in' }).click()
    return (await answer).status() === 429
  })
  await page.getByText(/Try again in (a second|\d seconds)/).waitFor()
  troubles.length = 0 // The refused calls.
})

test('refuses days that cannot be shown with a message of the page', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/?from=2000-01-01&to=2026-01-01')
  await page.getByRole('alert').getByText('at most 732 days at a time', { exact: true }).waitFor()
  troubles.length = 0 // The refused call.
})

test('sends a form once, however often its button is pressed', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  await page.getByRole('button', { name: 'New link' }).click()
  await page.getByLabel('Article', { exact: true }).fill('Mugs')
  await page.getByLabel('URL of the article').fill('https://daily.example/mugs')
  const make = page.getByRole('button', { name: 'Create link' })
  await make.dblclick()
  await page.getByRole('button', { name: 'Copy link' }).first().waitFor()
  await make.click()
  await page.getByLabel('URL of the article').fill('https://daily.example/more-mugs')
  await make.click()
  await until(async () => sent.length > 1)
  await page.getByRole('link', { name: 'Developer', exact: true }).click()
  await page.getByLabel('What is it for?').fill('pressed twice')
  await page.getByRole('button', { name: 'Create key' }).dblclick()
  await page.getByText('pressed twice').first().waitFor()
  await until(async () => (await page.getByLabel('What is it for?').inputValue()) === '')
  assert.equal(sent.length, 3, sent.join(' '))
})

test('refuses a day that does not exist at the field of a key’s last day', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/developer')
  await page.getByLabel('What is it for?').fill('never')
  await page.getByLabel('Expires').fill('2027-02-30')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.locator('#datetime_expires[aria-invalid="true"]').waitFor()
  troubles.length = 0 // The refused call.
})

test('a key works until the end of the chosen day', async (t) => {
  const { page } = await visit(t, '/dashboard/developer')
  await page.getByLabel('What is it for?').fill('today')
  await page.getByLabel('Expires').fill(new Date().toISOString().slice(0, 10))
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = (await page.locator('#new-key').textContent()) ?? ''
  assert.equal((await api.call('/api/v1/tokeninfo/', { key })).status, 200)
  await page.getByText(/works until .*, 23:59:59 UTC/).waitFor()
})

test('copies a key even when the browser refuses access to its clipboard', async (t) => {
  const { page } = await visit(t, '/dashboard/developer')
  await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))')
  await page.getByRole('button', { name: 'Copy' }).first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  assert.equal(await focused(page), 'Copied')
})

test('the skip link stays readable above the content below it', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  for (const path of ['/dashboard/', '/docs/']) {
    await page.goto(api.url + path)
    const skip = page.getByRole('link', { name: 'Skip to the content' })
    await skip.waitFor()
    await page.keyboard.press('Tab')
    assert.ok(await skip.evaluate((one) => document.activeElement === one))
    const ground = await skip.evaluate((one) => getComputedStyle(one).backgroundColor)
    assert.notEqual(ground, 'rgba(0, 0, 0, 0)', path)
  }
})

const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'

/** Answers with an owner of publishers of these names. Only the first exists. */
const answerPublishers = (page: Page, names: readonly string[]): Promise<unknown> =>
  alter<User>(page, '**/api/v1/me/', (me) => {
    const [own] = me.memberships
    if (own === undefined) return
    me.memberships = names.map((name, at) => ({
      ...own,
      name,
      organization: { kind: 'publisher', id: account.pubId + at },
    }))
  })

const isTooWide = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > innerWidth)

test('no page is wider than 320 px, also with long names', async (t) => {
  const { page } = await visit(t, '/dashboard/', 320)
  await answerPublishers(page, [LONG, 'Another'])
  for (const path of ['', 'links', 'clicks', 'orders', 'unfilled', 'payments', 'developer']) {
    await page.goto(`${api.url}/dashboard/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    assert.ok(!(await isTooWide(page)), path)
  }
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  const menu = page.getByRole('navigation')
  const [inner, outer] = await menu.evaluate((one) => [one.scrollWidth, one.clientWidth])
  assert.ok(Number(inner) <= Number(outer), 'every page of the menu is seen')
  await page.getByRole('button', { name: 'Close' }).click()
  // The name leaves room for the rest of its line, on a laptop and on a phone.
  for (const width of [320, 640, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    const name = await organizationSwitch(page).boundingBox()
    assert.ok((name?.y ?? 99) < 20, `${width}: ${JSON.stringify(name)}`)
  }
})

test('a month can be read by day, and amounts align at their cents', async (t) => {
  const { page } = await visit(t, '/dashboard/', 390)
  await alter<Overview>(page, '**/overview/*', (overview) => {
    Object.assign(overview.days[1] ?? {}, { earnings: '12.50', clicks: 40 })
    const row = { article_id: 1, article_name: 'Mugs', article_url: '', merch_id: 0 }
    Object.assign(overview, { rows: [{ ...row, merchant_name: null, ...overview.totals }] })
  })
  await page.reload()
  await page.getByText('Daily figures').focus()
  await page.keyboard.press('Enter')
  const days = page.getByRole('region', { name: 'Figures by day' })
  await days.getByRole('row', { name: /\$12\.50 40/ }).waitFor()
  assert.ok(!(await isTooWide(page)))

  await page.setViewportSize({ width: 1280, height: 900 })
  await answerClicks(page, ['0.36', '0.060224', '0.0075', '0.00'])
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  // There may be many candidates that lost.
  await page.getByText('Valid. Nobody won the auction, so').waitFor()
  const ends = await page
    .getByRole('listitem')
    .getByText(/^\$/)
    .evaluateAll((all) => all.map((one) => one.firstElementChild?.getBoundingClientRect().x ?? 0))
  assert.equal(ends.length, 4)
  // A screen reader reads one number, not "$0.06" and then "0224".
  assert.match(await page.getByRole('main').ariaSnapshot(), /\$0\.060224/)
  assert.ok(Math.max(...ends) - Math.min(...ends) < 1, JSON.stringify(ends))
})

const VALID = { reason: 'ok', why: 'A valid click.', clicks: 4 }

/** Answers with a page of clicks with these earnings. The next page never arrives. */
async function answerClicks(page: Page, earned: readonly string[]): Promise<void> {
  const click = (earnings: string) => ({
    click_id: earnings,
    at: '2026-03-01T12:00:00Z',
    auction_id: '1',
    auction_result_number: '0'.repeat(32),
    article_name: 'Mugs',
    article_url: 'https://daily.example/mugs',
    merchant_name: 'Kettles',
    product_name: null,
    model: Number(earnings) > 0 ? 'cpc' : 'none',
    price: '1.00',
    paid: '1.00',
    earnings,
    is_counted: true,
    reason: 'ok',
    why: 'A valid click.',
  })
  const first: ClickPage = { clicks: earned.map(click), next: '5', reasons: [VALID] }
  await page.route('**/clicks/?*', async (route) => {
    if (!route.request().url().includes('cursor')) await route.fulfill({ json: { data: [first] } })
  })
}

test('the list stays in place while another selection of clicks loads', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  await answerClicks(page, ['0.36'])
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await page.getByRole('term').getByText('Valid clicks').waitFor()
  const valid = page.getByRole('button', { name: 'Valid', exact: true })
  const before = await valid.boundingBox()
  await page.unroute('**/clicks/?*')
  await page.route('**/clicks/?*', () => undefined)
  await valid.click()
  await page.getByText('Kettles').waitFor({ state: 'detached' })
  assert.deepEqual(await valid.boundingBox(), before)

  await chooseDays(page, 'Today')
  // The reasons of other days are hidden.
  await page.getByRole('term').waitFor({ state: 'detached' })
})

test('shows that a page, the next part of a list, or new figures are loading', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  await answerClicks(page, ['0.36'])
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await page.getByRole('button', { name: 'Earlier clicks' }).click()
  await page.getByRole('button', { name: 'Loading …' }).waitFor()

  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await page.getByRole('img').waitFor()
  await page.route('**/overview/*', () => undefined)
  await chooseDays(page, 'Today')
  await page.locator('[aria-busy=true]').getByRole('img').waitFor()

  await page.route('**/assets/*.js', () => undefined)
  await page.reload({ waitUntil: 'commit' })
  await page.getByText('Loading …').waitFor()
})

test('a dashboard that fails to load says so and how to continue', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/')
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.reload()
  const notice = page.getByText('This takes longer than it should')
  assert.equal(await notice.isVisible(), false, 'not at once')
  await page.evaluate(() => {
    // Skips the animation's delay of some seconds.
    for (const animation of document.getAnimations()) animation.finish()
  })
  await notice.waitFor()
  await page.unroute('**/assets/*.js')
  await page.getByRole('link', { name: 'Reload' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  assert.equal(await notice.isVisible(), false)
  troubles.length = 0 // The script that failed to load.
})

test('never shows the figures of one publisher under the name of another', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  await answerPublishers(page, ['Daily', 'Another'])
  await page.route(`**/publishers/${account.pubId + 1}/**`, () => undefined)
  await page.reload()
  await page.getByRole('img').waitFor()
  await switchTo(page, 'Another')
  await page.getByRole('heading', { name: 'Another' }).waitFor()
  assert.equal(await page.getByRole('img').count(), 0)
})

test('a page that cannot read a response says so, and the menu still works', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/')
  const overviews = '**/overview/*'
  await alter<{ totals?: unknown }>(page, overviews, (overview) => {
    delete overview.totals // As in a response of another release.
  })
  await page.reload()
  const title = 'This page could not be displayed'
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  assert.equal(await page.title(), `${title} · Souk`)
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Clicks' }).waitFor()
  await page.goBack()
  await page.unroute(overviews)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('img').waitFor()
  troubles.length = 0 // The reported error.
})

test('without JavaScript the dashboard says that it needs it', async (t) => {
  const { page } = await openPage(t, { javaScriptEnabled: false })
  await page.goto(`${api.url}/dashboard/`)
  const text = await page.locator('body').innerText()
  assert.match(text, /^The dashboard needs JavaScript/)
})

test('shows large and negative figures in full, in cards and in text', async (t) => {
  const { page } = await visit(t, '/dashboard/', 390)
  await alter<Overview>(page, '**/overview/*', ({ totals, days }) => {
    Object.assign(totals, { earnings: '-1234567.89', sales: -2, impressions: 987_654_321 })
    const [first] = days
    Object.assign(first ?? {}, { earnings: '-1234567.89' })
  })
  await page.reload()
  const tile = page.getByRole('button', { name: /^Earnings\s*−\$1,234,567\.89/ })
  const [inner, outer] = await tile.evaluate((one) => [one.scrollWidth, one.clientWidth])
  assert.ok(Number(inner) <= Number(outer), `${inner} in ${outer}`)
  await page.getByRole('button', { name: /^Sales\s*−2/ }).waitFor()
  await page.getByRole('img', { name: /: least on \d+ \w+ \d{4}, −\$1,234,567\.89$/ }).waitFor()
})

test('an article without a name shows its URL, and without a URL has no link', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  await alter<Overview>(page, '**/overview/*', (overview) => {
    const figures = { impressions: 1, clicks: 1, sales: 0, revenue: '0.00', earnings: '0.00' }
    const merchant = { merch_id: 1, merchant_name: 'Kettles', ...figures }
    overview.rows = [
      { article_id: 1, article_name: ' ', article_url: 'https://daily.example/mugs', ...merchant },
      { article_id: 2, article_name: '', article_url: '', ...merchant },
      {
        article_id: 3,
        article_name: 'Aprons',
        article_url: 'https://daily.example/a',
        ...merchant,
      },
    ]
  })
  await page.reload()
  const table = page.getByRole('region', { name: 'By article and merchant' })
  await table.getByText('No article').waitFor()
  await table.getByRole('button', { name: 'Article and merchant' }).click()
  await table.locator('[aria-sort=ascending]').waitFor()
  const names = ['Aprons', 'daily.example/mugs']
  assert.deepEqual(await table.getByRole('link').allInnerTexts(), names, 'in their order')
})

test('the four figures form two rows of two on the smallest phone', async (t) => {
  const { page } = await visit(t, '/dashboard/', 320)
  const boxes = await Promise.all(
    ['Earnings', 'Clicks', 'Page views', 'Sales'].map((name) =>
      page.getByRole('button', { name: new RegExp(`^${name}`) }).boundingBox(),
    ),
  )
  const [first, second, third, fourth] = boxes.map((box) => box?.y)
  assert.deepEqual([second, fourth], [first, third])
})

test('the current selection is visible in forced-colors mode', async (t) => {
  const { page } = await visit(t, '/dashboard/clicks')
  await page.emulateMedia({ forcedColors: 'active' })
  const outlineOf = (name: string) =>
    page.getByRole('button', { name }).evaluate((one) => getComputedStyle(one).outlineStyle)
  assert.equal(await outlineOf('All'), 'solid')
  assert.equal(await outlineOf('Valid'), 'none')
  const current = page.getByRole('navigation').getByRole('link', { name: 'Clicks' })
  assert.equal(await current.evaluate((one) => getComputedStyle(one).outlineStyle), 'solid')
})
