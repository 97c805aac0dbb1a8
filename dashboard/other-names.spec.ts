/** Accounts with several publishers, and names of any length and writing direction. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createUser } from '../src/accounts/create-account.ts'
import { micros } from '../src/platform/money/money.ts'
import { startApi } from '../test/support/api.ts'
import { makeMerchant } from '../test/support/catalogue.ts'
import {
  follow,
  KETTLE,
  makeMarket,
  runAuction,
  until,
  untilReceipt,
} from '../test/support/market.ts'
import { scopeOf } from '../test/support/scope.ts'
import type { ClickPage, OrderPage, Overview, Receipt } from './api.ts'
import { logIn, logOut, organizationSwitch, switchTo, visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const market = await makeMarket(api)
const LONG = 'The Long Name of a Magazine '.repeat(4).trim()
const ARABIC = 'أفضل غلايات الماء التي جربناها هذا العام في مطبخنا الصغير، واحدة بعد أخرى'
const two = await api.account({ slug: 'one', name: 'One' }, { slug: 'two', name: LONG })

async function visit(t: TestContext, path: string, { width = 1280, account = two } = {}) {
  const { page } = await visitPage(t, { service: api.url, path, width })
  await logIn(page, account)
  return page
}

const answer = (
  page: Page,
  path: string,
  entry: ClickPage | OrderPage | Receipt,
): Promise<unknown> => page.route(path, (route) => route.fulfill({ json: { data: [entry] } }))

test('every account can log in with its email, in upper or lower case', async (t) => {
  const password = 'a long password'
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/' })
  for (const email of ['jörg@daily.example', 'info@müller.example', 'it@the_shop.example']) {
    await createUser(api.db, { email, password, isAdmin: false })
    await logIn(page, { email: ` ${email}`, password })
    await logOut(page)
  }
})

test('text to copy contains the service’s own URL and name, also for merchants', async (t) => {
  const env = { BASE_URL: 'http://127.0.0.1', BRAND: 'acme', BRAND_ALIASES: 'acme' }
  const acme = await startApi(scopeOf(t), { env })
  const merchant = { email: 'merchant@x.example', password: 'a long password' }
  await createUser(acme.db, { ...merchant, isAdmin: false })
  // By its port, which BASE_URL does not contain.
  const { page } = await visitPage(t, { service: acme.url, path: '/dashboard/developer' })
  await logIn(page, merchant)
  const trial = page.getByRole('region', { name: 'Try it' })
  await trial.getByText(/ACME-API-KEY <your key>.*http:\/\/127\.0\.0\.1\/api\//s).waitFor()
})

test('a created link disappears when the user switches to another publisher', async (t) => {
  const page = await visit(t, '/dashboard/links')
  const fillIn = async () => {
    await page.getByRole('button', { name: 'New link' }).click()
    await page.getByLabel('Article', { exact: true }).fill('Mugs')
    await page.getByLabel('URL of the article').fill('https://daily.example/mugs')
    await page.getByRole('button', { name: 'Create link' }).click()
    return (await page.getByRole('status').locator('code').textContent()) ?? ''
  }
  const first = await fillIn()
  await switchTo(page, LONG)
  await page.getByText('No smart link yet').waitFor()
  assert.equal(await page.getByText(first).count(), 0)
  assert.notEqual(await fillIn(), first)
})

test('a receipt appears under its own publisher, and another publisher sees clicks instead', async (t) => {
  const page = await visit(t, '/dashboard/')
  const [first, second] = two.publishers
  assert.ok(first && second)
  await answer(page, '**/receipts/*/', { ...RECEIPT, pub_id: second.pub_id })
  await page.goto(`${api.url}/dashboard/receipts/${RECEIPT.auction_result_number}`)
  await page.getByRole('heading', { name: 'Details have expired' }).waitFor()
  assert.equal(await organizationSwitch(page).innerText(), second.name)
  await switchTo(page, first.name)
  await page.getByRole('heading', { name: 'No clicks in this period' }).waitFor()
  assert.match(page.url(), new RegExp(`/clicks\\?org=publisher-${first.pub_id}$`))
  await page.goBack()
  await page.getByRole('heading', { name: 'Details have expired' }).waitFor()
  assert.equal(await organizationSwitch(page).innerText(), second.name)
})

const RECEIPT: Receipt = {
  auction_result_number: '0123456789abcdef0123456789abcdef',
  pub_id: 0,
  auction_id: '9007199254740993',
  article_name: 'Mugs',
  article_url: 'https://daily.example/mugs',
  link_url: null,
  explanation: null,
  merchants: [],
  offers: [],
  clicks: [],
}

test('an emptied search field stays usable, and the back button changes it', async (t) => {
  const { account } = market
  for (const article of ['m23', 'm5']) await market.link(undefined, { article })
  const page = await visit(t, '/dashboard/links', { account })
  const field = page.getByRole('searchbox', { name: 'Find links' })
  await field.fill('m23')
  await page.keyboard.press('Enter')
  await page.waitForURL(/find=m23/)
  for (let at = 0; at < 3; at++) await page.keyboard.press('Backspace')
  await page.keyboard.type('m5')
  await page.getByRole('link', { name: 'm5' }).waitFor()
  await page.getByRole('link', { name: 'm23' }).waitFor()
  assert.equal(await field.inputValue(), 'm5')
  await page.keyboard.press('Enter')
  await page.waitForURL(/find=m5/)
  await page.getByRole('link', { name: 'm23' }).waitFor({ state: 'detached' })
  assert.ok(await field.evaluate((one) => one === document.activeElement))
  await page.goBack()
  await until(async () => (await field.inputValue()) === '')
  await page.goBack()
  await until(async () => (await field.inputValue()) === 'm23')
})

test('a search without results says so, also while a link is being created', async (t) => {
  const page = await visit(t, '/dashboard/links?find=samovar')
  await page.getByRole('button', { name: 'New link' }).click()
  await page.getByRole('heading', { name: 'No smart link with “samovar”' }).waitFor()
})

test('a truncated name shows its beginning, in either writing direction', async (t) => {
  const page = await visit(t, '/dashboard/orders', { width: 390 })
  await answer(page, '**/orders/?*', { orders: [ORDER], next: null })
  await page.reload()
  const name = page.getByText(ARABIC)
  await name.waitFor()
  const revenue = page.getByText('$1,234.50 revenue')
  assert.ok(
    await revenue.evaluate((one) => one.scrollWidth <= one.clientWidth),
    'the amount is whole',
  )
  const [word, box] = await name.evaluate((one) => {
    const range = document.createRange()
    range.setStart(one.firstChild as Text, 0)
    range.setEnd(one.firstChild as Text, 4)
    const line = one.closest('p') ?? one
    return [range.getBoundingClientRect(), line.getBoundingClientRect()] as const
  })
  assert.ok(word.left >= box.left && word.right <= box.right, JSON.stringify([word, box]))
})

test('the overview shows two lines of a merchant’s long name', async (t) => {
  const page = await visit(t, '/dashboard/', { width: 360 })
  await page.route('**/overview/?*', (route) =>
    route.fulfill({ json: { data: [overviewOf(LONG)] } }),
  )
  await page.reload()
  const name = page.locator('th bdi', { hasText: LONG })
  await name.waitFor()
  const lines = () =>
    name.evaluate(
      (one) =>
        one.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(one).lineHeight),
    )
  await until(async () => (await lines()) < 2.5)
})

const figures = { impressions: 1, clicks: 1, sales: 0, revenue: '0.00', earnings: '0.10' }
const overviewOf = (merchant_name: string): Overview => ({
  pub_id: 1,
  date_from: '2026-03-01',
  date_to: '2026-03-01',
  totals: { ...figures, unpaid_clicks: 0, earnings_per_click: '0.10' },
  days: [{ event_date: '2026-03-01', ...figures, unpaid_clicks: 0 }],
  rows: [
    {
      article_id: 1,
      article_name: 'Mugs',
      article_url: '',
      merch_id: 1,
      merchant_name,
      ...figures,
    },
  ],
  are_rows_cut: false,
})

const ORDER: OrderPage['orders'][number] = {
  order_id: '1',
  checkout_id: 'R-1001',
  at: '2026-03-01T12:00:00Z',
  merchant_name: 'Kettles',
  article_name: ARABIC,
  article_url: 'https://daily.example/kettles',
  auction_result_number: null,
  model: 'cpa',
  revenue: '1234.50',
  earnings: '12.34',
  returned: '0.00',
  state: 'PENDING',
  is_cancelled: false,
  locks_at: '2026-04-01T12:00:00Z',
  reject_reason: null,
}

/** Without its own direction, this text would read "1.2 غلاية", and then its "L". */
const MIXED = 'غلاية 1.2 L'

test('a right-to-left name is correct on every page and reorders nothing else', async (t) => {
  const account = await api.account({ slug: 'right', name: MIXED, domains: ['right.example'] })
  const url = 'https://shop.example/p/1'
  const offers = [{ id: '1', title: MIXED, link: url, gtin: '9521000000025' }]
  const { merchId } = await makeMerchant(api.db, { name: MIXED, domain: 'shop.example', offers })
  await market.campaign(merchId)
  const article = { article_name: MIXED, article_url: 'https://right.example/1' }
  const made = await api.call('/api/v1/smart_links/', {
    key: account.key,
    body: { url, ...article },
  })
  await follow(api, `/${made.entry<{ auction_id: string }>().auction_id}`)
  await api.app.untilFolded()

  const page = await visit(t, '/dashboard/developer', { account })
  await page.getByLabel('What is it for?').fill(MIXED)
  await page.getByRole('button', { name: 'Create key' }).click()
  await assertReadFromRight(page, 2)
  for (const [path, names] of [
    ['', 3],
    ['links', 1],
    ['clicks', 2],
  ] as const) {
    await page.goto(`${api.url}/dashboard/${path}`)
    await assertReadFromRight(page, names)
  }
  await page.getByRole('link', { name: 'Receipt' }).click()
  await assertReadFromRight(page, 6)
  const order = { ...ORDER, merchant_name: MIXED, article_name: MIXED }
  await answer(page, '**/orders/?*', { orders: [order], next: null })
  await page.goto(`${api.url}/dashboard/orders`)
  await assertReadFromRight(page, 2)
})

/** The last letter of each of these names is left of the first. */
async function assertReadFromRight(page: Page, names: number): Promise<void> {
  const shown = page.locator('main').getByText(MIXED)
  await until(async () => (await shown.count()) >= names)
  const wrong = await page.locator('main').evaluate((main, name) => {
    const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT)
    const left = (text: Node, at: number) => {
      const range = document.createRange()
      range.setStart(text, at)
      range.setEnd(text, at + 1)
      return range.getBoundingClientRect().left
    }
    const turned: (string | null)[] = []
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const from = text.textContent?.indexOf(name) ?? -1
      if (from < 0) continue
      if (left(text, from + name.length - 1) > left(text, from))
        turned.push(text.parentElement?.outerHTML ?? '')
    }
    return turned
  }, MIXED)
  assert.deepEqual(wrong, [])
}

test('the reason of a loss stays readable in one line beside a long merchant name', async (t) => {
  await market.campaign(market.kettles, { bid_micros: micros(500_000) })
  await market.campaign(market.pans, { bid_micros: micros(400_000) })
  await follow(api, `/${await market.link()}`)
  await api.app.untilFolded()
  const page = await visit(t, '/dashboard/clicks', { width: 360, account: market.account })
  await page.route('**/receipts/*/', async (route) => {
    const response = await route.fetch()
    const { data } = (await response.json()) as { data: Receipt[] }
    const merchants = data[0]?.merchants.map((merchant) => ({ ...merchant, name: LONG }))
    await route.fulfill({ json: { data: [{ ...data[0], merchants }] } })
  })
  await page.getByRole('link', { name: 'Receipt' }).click()
  const lost = page.getByText('Lost', { exact: true })
  await lost.waitFor()
  const lines = await lost.evaluate((one) => {
    const words = document.createRange()
    words.selectNodeContents(one)
    return new Set(Array.from(words.getClientRects(), ({ top }) => top)).size
  })
  assert.equal(lines, 1)
})

test('a receipt and the list of links use the same words for a locked link', async (t) => {
  const account = await api.account({ slug: 'locked', name: 'Locked' })
  const body = {
    url: KETTLE,
    article_name: 'Mugs',
    article_url: 'https://daily.example/mugs',
    exclusive_match_requested: true,
  }
  const made = await api.call('/api/v1/smart_links/', { key: account.key, body })
  await follow(api, `/${made.entry<{ auction_id: string }>().auction_id}`)
  await api.app.untilFolded()
  const page = await visit(t, '/dashboard/links', { account })
  await page.getByText('Locked to one merchant', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await page.getByRole('link', { name: 'Receipt' }).click()
  await page.getByRole('heading', { name: 'Inputs of the auction' }).waitFor()
  await page.getByText('Show all').click()
  const facts = await page.getByRole('region', { name: 'Inputs of the auction' }).innerText()
  assert.match(facts, /Locked to one merchant\s+yes/)
  assert.match(facts, /Computed by\s+rules \d+, engine \d/)
})

test('a receipt of an auction without bids says why, and does not reveal who sells the product', async (t) => {
  const link = 'https://teapots.example/p/1'
  const offers = [{ id: '1', title: 'Teapot', link, price: '20.00 USD' }]
  await makeMerchant(api.db, { name: 'Teapots', domain: 'teapots.example', offers })
  const entry = await runAuction(api, await market.link(link))
  await untilReceipt(api, entry)
  const page = await visit(t, `/dashboard/receipts/${entry.auction_result.id}`, market)
  await page.getByText('No merchant with a campaign sells what').waitFor()
  assert.doesNotMatch(await page.getByRole('main').innerText(), /No merchant of|candidates/)
})

test('a click, its receipt and its order show the URL of an article without a name', async (t) => {
  const account = await api.account({ slug: 'nameless', name: 'Nameless' })
  const article = { article_name: ' ', article_url: 'https://daily.example/mugs' }
  const made = await api.call('/api/v1/smart_links/', {
    key: account.key,
    body: { url: KETTLE, ...article },
  })
  await follow(api, `/${made.entry<{ auction_id: string }>().auction_id}`)
  await api.app.untilFolded()
  const page = await visit(t, '/dashboard/clicks', { account })
  await page.getByText('daily.example/mugs', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Receipt' }).click()
  await page.getByText('daily.example/mugs · kettles.example/p/1', { exact: true }).waitFor()
  await answer(page, '**/orders/?*', { orders: [{ ...ORDER, ...article }], next: null })
  await page.goto(`${api.url}/dashboard/orders`)
  await page.getByText('daily.example/mugs', { exact: true }).waitFor()
})

test('an order of a merchant that pays per click says that the order earns nothing', async (t) => {
  const page = await visit(t, '/dashboard/')
  const order = { ...ORDER, model: 'cpc', state: 'LOCKED', earnings: '0.00' }
  await answer(page, '**/orders/?*', { orders: [order], next: null })
  await page.goto(`${api.url}/dashboard/orders`)
  await page.getByText('Paid per click, so the order earns nothing.').waitFor()
})

test('a long publisher name leaves the figures visible on a phone', async (t) => {
  const page = await visit(t, `/dashboard/?pub=${two.publishers[1]?.pub_id}`, { width: 390 })
  const heading = await page.getByRole('heading', { level: 1, name: LONG }).boundingBox()
  assert.ok((heading?.height ?? 99) < 80, JSON.stringify(heading))
})

test('the list of publishers shows each name in its own direction', async (t) => {
  const account = await api.account(
    { slug: 'three', name: 'Three' },
    { slug: 'four', name: ARABIC },
  )
  const page = await visit(t, '/dashboard/', { account })
  await organizationSwitch(page).click()
  const names = page.getByRole('option').locator('bdi')
  await names.first().waitFor()
  const directions = await names.evaluateAll((all) =>
    all.map((one) => getComputedStyle(one).direction),
  )
  assert.deepEqual(directions, ['ltr', 'rtl'])
})

test('the count of clicks says which kind it counts', async (t) => {
  const page = await visit(t, '/dashboard/clicks')
  const reasons = [{ reason: 'ok', why: 'A valid click.', clicks: 600 }]
  await answer(page, '**/clicks/?*', { clicks: [], next: null, reasons })
  await page.reload()
  await page.getByRole('term').getByText('Valid clicks', { exact: true }).waitFor()
})
