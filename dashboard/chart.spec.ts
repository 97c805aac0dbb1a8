/** The chart's labels, at every width and for any figures. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startApi } from '../test/support/api.ts'
import { makeMarket } from '../test/support/market.ts'
import type { Overview } from './api.ts'
import { alter, visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { account } = await makeMarket(api)

const visit = (t: TestContext, path: string, width?: number) =>
  visitAs(account, t, { service: api.url, path, width })

/** Records the text that the page draws into canvases. */
const WRITTEN = `globalThis.written = []
const { fillText } = CanvasRenderingContext2D.prototype
CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
  written.push(text)
  return fillText.call(this, text, ...where)
}`

test('two years of bars show months below them, also on a phone', async (t) => {
  const { page } = await visit(t, '/dashboard/', 320)
  await page.addInitScript(WRITTEN)
  await page.goto(`${api.url}/dashboard/?from=2024-11-22&to=2026-11-23`)
  await page.getByRole('img').locator('canvas').waitFor()
  const written = await page.evaluate<string[]>('written')
  assert.ok(written.includes('Nov 2024') && written.includes('Nov 2025'), written.join())
})

/** The labels beside the bars when each day earned this much. */
async function writtenBeside(page: Page, earnings: string): Promise<string[]> {
  await page.addInitScript(WRITTEN)
  await alter<Overview>(page, '**/overview/*', ({ days }) => {
    for (const day of days) day.earnings = earnings
  })
  await page.reload()
  await page.getByRole('img').locator('canvas').waitFor()
  return await page.evaluate<string[]>('written')
}

test('an axis of whole dollars leaves out the cents', async (t) => {
  const { page } = await visit(t, '/dashboard/', 390)
  const written = await writtenBeside(page, '200000000.00')
  assert.ok(written.includes('$200,000,000') && written.includes('$0'), written.join())
})

test('days with only small losses are drawn at full height', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  const written = await writtenBeside(page, '-0.10')
  assert.ok(written.includes('−$0.10') && !written.includes('$1.00'), written.join())
})

test('a chart without earnings has a labelled axis', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  const written = await writtenBeside(page, '0.00')
  assert.ok(written.includes('$0.00') && written.includes('$1.00'), written.join())
})

test('arrow keys move the point of a chart and announce its value', async (t) => {
  const { page } = await visit(t, '/dashboard/?from=2026-01-05&to=2026-01-07')
  await alter<Overview>(page, '**/overview/*', ({ days }) => {
    for (const [at, day] of days.entries()) day.earnings = `${at}.50`
  })
  await page.reload()
  const chart = page.getByRole('group', { name: /^Earnings: arrow keys/ })
  await chart.locator('canvas').waitFor()
  await chart.press('ArrowLeft')
  await chart.press('ArrowLeft')
  await chart.getByText('6 Jan 2026: $1.50').waitFor()
})
