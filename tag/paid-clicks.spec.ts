/** Which loads of a link in Chromium are paid clicks (docs/spec/clicks.md#frames). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createLine } from 'node:net'
import { after, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { reasonName } from '../src/events/reason.ts'
import { micros } from '../src/platform/money/money.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { KETTLE, makeMarket, until } from '../test/support/market.ts'
import { openPage } from './testing/browser.ts'

const HERE = 'http://localhost:0' // The service's own host, which the cookie needs.
const api = await startApi(
  { after },
  // Tests run on loopback, which the address rules exempt: readers come through a proxy.
  { env: { TRUSTED_PROXIES: '127.0.0.0/8,::1', LINK_URL: HERE, AUCTION_URL: HERE } },
)
const market = await makeMarket(api)
await market.campaign(market.kettles, { bid_micros: micros(600_000) })

/** An article that runs the given code on the link when its button is clicked. */
const article = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://article.example')
  response.setHeader('content-type', 'text/html')
  response.end(`<!doctype html><title>Article</title>
    <script>const link = ${JSON.stringify(searchParams.get('link'))}</script>
    <button onclick="${searchParams.get('onclick') ?? ''}">Read on</button>
    <a href="${searchParams.get('link')}" target="${searchParams.get('target') ?? ''}">Kettle</a>`)
})
article.listen(0, '127.0.0.1')
await once(article, 'listening')
after(() => article.close())
const { port } = article.address() as AddressInfo

/** Reaches the service with 250 ms of latency, all of it in the response. */
const slowLine = createLine((near) => {
  const far = connect(Number(new URL(api.url).port), '127.0.0.1')
  // A sent request arrives, even if the browser aborts it.
  near.pipe(far, { end: false })
  far.on('data', (bytes) => setTimeout(() => near.write(bytes), 250))
  for (const end of [near, far]) end.on('error', () => undefined)
  after(() => far.destroy())
})
slowLine.listen(0, '127.0.0.1')
await once(slowLine, 'listening')
after(() => slowLine.close())

let readers = 0

/** A fresh profile at an unused address, on an article with a new link. */
async function openArticle(
  t: Parameters<typeof openPage>[0],
  {
    query = {},
    headers = {},
    service = api.url.replace('127.0.0.1', 'localhost'),
  }: {
    readonly query?: { onclick?: string; target?: string }
    readonly headers?: Record<string, string>
    readonly service?: string
  } = {},
): Promise<{
  page: Page
  context: BrowserContext
  reasons: (clicks: number) => Promise<string[]>
}> {
  const auctionId = await market.link(KETTLE, { isExclusive: true })
  const extraHTTPHeaders = { 'x-forwarded-for': `198.51.100.${++readers}`, ...headers }
  const { page } = await openPage(t, { extraHTTPHeaders })
  const link = `${service}/${auctionId}`
  await page.goto(`http://127.0.0.1:${port}/?${new URLSearchParams({ link, ...query })}`)
  const read = async () => {
    const rows = await api.db.rows<{ reason: number }>(sql`
      select click.reason from click where auction_id = ${auctionId} order by event_id`)
    return rows.map(({ reason }) => reasonName(reason))
  }
  const reasons = async (clicks: number) => {
    await until(async () => (await read()).length >= clicks)
    await api.app.untilFolded()
    return read()
  }
  return { page, context: page.context(), reasons }
}

/** For an element that the page creates once its reader clicks elsewhere on it. */
const made = (element: string, attribute: string) =>
  `const made = document.createElement('${element}');
  made.${attribute} = link;
  document.body.append(made)`

for (const [name, onclick] of [
  ['an iframe', made('iframe', 'src')],
  ['an object', made('object', 'data')],
  ['an embed', made('embed', 'src')],
  ['an image', made('img', 'src')],
  ['a fetch', "fetch(link, { mode: 'no-cors', credentials: 'include' }).catch(() => undefined)"],
] as const) {
  test(`Chromium loads a link into ${name} on a click elsewhere on the page: unpaid`, async (t) => {
    const { page, reasons } = await openArticle(t, { query: { onclick } })
    await page.click('button')
    assert.deepEqual(await reasons(1), ['embedded'])
  })
}

test('twenty hidden frames that one click creates are all unpaid', async (t) => {
  const frames = `for (let at = 0; at < 20; at += 1) {
    const frame = Object.assign(document.createElement('iframe'), { src: link, hidden: true });
    document.body.append(frame)
  }`
  const { page, reasons } = await openArticle(t, {
    query: { onclick: frames.replace(/\s+/g, ' ') },
  })
  await page.click('button')
  assert.deepEqual(
    await reasons(20),
    Array.from({ length: 20 }, () => 'embedded'),
  )
})

test('Chromium opens a link in the same tab, a pop-up, a new tab, and by a middle click: paid', async (t) => {
  const opened: Record<string, (page: Page) => Promise<void>> = {
    'the same tab': (page) => page.click('a', { noWaitAfter: true }),
    'a pop-up': (page) => page.click('button'),
    'a new tab': (page) => page.click('a'),
    'a middle click': (page) => page.click('a', { button: 'middle' }),
  }
  const queries: Record<string, { onclick?: string; target?: string }> = {
    'a pop-up': { onclick: "window.open(link, '', 'width=300,height=200')" },
    'a new tab': { target: '_blank' },
  }
  for (const [name, open] of Object.entries(opened)) {
    const { page, reasons } = await openArticle(t, { query: queries[name] ?? {} })
    await open(page)
    assert.deepEqual(await reasons(1), ['ok'], name)
  }
})

test('a double click in a fresh profile with 250 ms of latency is one paid click', async (t) => {
  const service = `http://localhost:${(slowLine.address() as AddressInfo).port}`
  // Each click opens a separate tab, so both requests arrive before any response sets the cookie.
  const tabs = await openArticle(t, { query: { target: '_blank' }, service })
  await tabs.page.dblclick('a')
  assert.deepEqual(await tabs.reasons(2), ['ok', 'duplicate_visitor'])
  // Some versions of Chromium drop the second navigation of a tab to the same URL themselves.
  const tab = await openArticle(t, { service })
  await tab.page.dblclick('a', { noWaitAfter: true })
  const reasons = await tab.reasons(1)
  assert.equal(reasons.filter((reason) => reason === 'ok').length, 1, reasons.join())
})

test('pays one of three clicks of a reader with GPC on one link', async (t) => {
  const { page, reasons } = await openArticle(t, {
    query: { target: '_blank' },
    headers: { 'sec-gpc': '1' },
  })
  for (let clicks = 1; clicks <= 3; clicks += 1) {
    await page.click('a')
    await reasons(clicks)
  }
  assert.deepEqual(await reasons(3), ['ok', 'duplicate_visitor', 'duplicate_visitor'])
})

test('a reader’s second click on a link sends the cookie of the first, and is the same visit', async (t) => {
  const { page, context, reasons } = await openArticle(t, { query: { target: '_blank' } })
  await page.click('a')
  assert.deepEqual(await reasons(1), ['ok'])
  await until(async () => (await context.cookies()).some(({ name }) => name === 'souk_visitor'))
  // From another address by now: only the cookie identifies the reader.
  await context.setExtraHTTPHeaders({ 'x-forwarded-for': '203.0.113.200' })
  await page.click('a')
  assert.deepEqual(await reasons(2), ['ok', 'duplicate_visitor'])
})
