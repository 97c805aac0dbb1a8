/** The dashboard in browsers that lack newer features or have unusual settings. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startApi } from '../test/support/api.ts'
import { makeMarket } from '../test/support/market.ts'
import type { Overview, Payments } from './api.ts'
import { alter, visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { account, link } = await makeMarket(api)

const visit = (t: TestContext, path: string) => visitAs(account, t, { service: api.url, path })

/**
 * Removes features that Safari 17.6, the last version for older Macs, lacks. Colors still come from
 * this browser.
 */
const FORGET = `delete URL.parse
delete Promise.try
delete RegExp.escape
for (const name of ['map', 'filter', 'toArray']) delete Iterator.prototype[name]`

test('every page works in the oldest browsers that support its colors', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await page.addInitScript(FORGET)
  await link()
  for (const path of ['', 'clicks', 'orders', 'unfilled', 'payments', 'developer', 'links']) {
    await page.goto(`${api.url}/dashboard/${path}`)
    await page.waitForLoadState('networkidle')
    assert.ok(!/could not be drawn/.test(await page.locator('h1').innerText()), path)
  }
  await page.getByRole('main').getByText('The Kettle').waitFor()
})

/** Some browsers report this where the machine has no language. WebKit calls it `C`. */
const NO_LANGUAGE = `Object.defineProperty(navigator, 'language', { value: 'en-US@posix' })`

test('draws figures when the browser’s language is invalid for number formats', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await page.addInitScript(NO_LANGUAGE)
  await page.goto(`${api.url}/dashboard/`)
  await page.getByRole('img').locator('canvas').waitFor()
})

/** The number of lines that each word of a heading takes, without the name before it. */
const linesOfWords = ({ lastChild: text, ownerDocument }: HTMLElement): number[] =>
  [...(text?.textContent ?? '').matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const range = ownerDocument.createRange()
    range.setStart(text as Text, index)
    range.setEnd(text as Text, index + word.length)
    return range.getClientRects().length
  })

test('twice the letter size breaks no word of a heading on a phone', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await page.setViewportSize({ width: 390, height: 844 })
  for (const [path, words] of Object.entries({ links: 2, clicks: 1, orders: 1, developer: 2 })) {
    await page.goto(`${api.url}/dashboard/${path}`)
    const heading = page.getByRole('heading', { level: 1 })
    await heading.waitFor()
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%'
    })
    const lines = await heading.evaluate(linesOfWords)
    assert.deepEqual(lines, Array(words).fill(1), path)
  }
})

/** More than anybody has earned, with every stored digit. */
const MUCH = '1234567890.123456'

test('twice the letter size keeps pages within the smallest phone, whatever the earnings', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await page.setViewportSize({ width: 320, height: 700 })
  await alter<Overview>(page, '**/overview/*', ({ totals }) => {
    totals.earnings = `-${MUCH}`
  })
  await alter<Payments>(page, '**/payments/', (payments) => {
    payments.due_usd = MUCH
    payments.merchants = [
      {
        merch_id: 1,
        merchant_name: 'Kettles',
        due_usd: MUCH,
        due_since: null,
        open_usd: MUCH,
        released_usd: MUCH,
      },
    ]
  })
  for (const path of ['', 'links', 'clicks', 'orders', 'unfilled', 'payments', 'developer']) {
    await page.goto(`${api.url}/dashboard/${path}`)
    await page.waitForLoadState('networkidle')
    const width = await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%'
      return document.documentElement.scrollWidth
    })
    assert.equal(width, 320, `/${path}`)
  }
})
