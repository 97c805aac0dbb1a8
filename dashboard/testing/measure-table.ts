/**
 * How long the dashboard's table takes from a key or a click to the next picture, with 10,000 rows.
 *
 *   node dashboard/testing/measure-table.ts
 *
 * The page is the real one, in the machine's Chromium; only the rows are made up, because no test
 * market has as many links.
 */
import type { Page } from 'playwright-core'
import { median } from '../../bench/median.ts'
import { openPage } from '../../tag/testing/browser.ts'
import { startApi } from '../../test/support/api.ts'
import { logIn } from './visit.ts'

const ROWS = 10_000
const GOAL_MS = 100
const ROUNDS = 9

const works: (() => Promise<void>)[] = []
const scope = { after: (work: () => Promise<void>) => void works.push(work) }
const api = await startApi(scope, { env: { BASE_URL: 'http://127.0.0.1' } })
const account = await api.account()
const { page } = await openPage(scope, { viewport: { width: 1440, height: 900 } })

const rows = Array.from({ length: ROWS }, (_, at) => ({
  ...{ day: null, hour: null, article_id: null, merch_id: null, product_id: null },
  ...{ device: null, country: null, u1: null, auction_id: String(at + 1) },
  name: `https://shop.example/products/${(at * 7919) % ROWS}/kettle`,
  url: `https://shop.example/products/${(at * 7919) % ROWS}/kettle`,
  earnings: ((at * 104729) % 99991)
    .toString()
    .padStart(5, '0')
    .replace(/(?=\d\d$)/, '.'),
  clicks: (at * 31) % 977,
  ...{ invalid_clicks: at % 7, earnings_per_click: '0.25', orders: at % 3, revenue: '12.50' },
  ...{ page_views: null, compared_earnings: '1.00', compared_clicks: 7, compared_orders: 1 },
  ...{ compared_invalid_clicks: 1, compared_earnings_per_click: '0.20' },
  ...{ compared_revenue: '9.00', compared_page_views: null },
}))
await page.route('**/breakdown/?*group_by=link*', (route) =>
  route.fulfill({ json: { data: rows, next_cursor: null } }),
)
await page.goto(`${api.url}/dashboard/performance?by=link`)
await logIn(page, account)
await page.getByRole('searchbox', { name: 'Filter Links' }).waitFor()

/** From the event to the picture after it: what somebody waits for. */
async function timeOf(target: Page, act: () => Promise<unknown>): Promise<number> {
  await target.evaluate(() => {
    const world = globalThis as unknown as { took: Promise<number> }
    world.took = new Promise((done) => {
      const begin = (event: Event) => {
        const startMs = event.timeStamp
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - startMs)))
      }
      for (const name of ['pointerup', 'keydown']) {
        addEventListener(name, begin, { once: true, capture: true })
      }
    })
  })
  await act()
  return await target.evaluate(() => (globalThis as unknown as { took: Promise<number> }).took)
}

const filter = page.getByRole('searchbox', { name: 'Filter Links' })
const actions: Readonly<Record<string, () => Promise<unknown>>> = {
  'sort by a number': () => page.getByRole('button', { name: 'Clicks' }).last().click(),
  'sort by a name': () => page.getByRole('button', { name: 'Link', exact: true }).click(),
  'type into the filter': () => filter.press('7'),
  'delete from the filter': () => filter.press('Backspace'),
  'scroll by a page': () => page.getByRole('region', { name: 'Rows of Links' }).press('PageDown'),
}
for (const [name, act] of Object.entries(actions)) {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) times.push(await timeOf(page, act))
  const ms = median(times)
  console.log(`${name}: ${ms.toFixed(0)} ms with ${ROWS} rows (goal ${GOAL_MS} ms)`)
  if (ms > GOAL_MS) process.exitCode = 1
}

for (const work of works.toReversed()) await work()
