/** A publisher's payments page: who owes which amount since when, and the monthly statements. */
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { MODEL } from '../src/events/event.ts'
import { issueStatements } from '../src/ledger/statement-store.ts'
import { DAY_MS } from '../src/platform/time/timestamp.ts'
import { startApi } from '../test/support/api.ts'
import { makeMarket } from '../test/support/market.ts'
import { MoneyEvents, START_MS } from '../test/support/money-events.ts'
import type { Payments } from './api.ts'
import { alter, visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
/** Longer than any write to the log takes. Events in the spool would be folded later. */
const TIMEOUT_MS = 60_000
const { account, kettles, pans } = await makeMarket(api)

test('payments show who owes since when, and a statement opens as a page and as a file', async (t) => {
  const { page } = await visitAs(account, t, { service: api.url, path: '/dashboard/payments' })
  await page.getByRole('heading', { name: 'Nothing earned yet' }).waitFor()

  const events = new MoneyEvents()
  const click = (name: string, merchId: number, days: number) =>
    events.click(name, START_MS + days * DAY_MS, {
      ...{ model: MODEL.cpc, termsAmount: 80_123_456, reservedMicros: 80_123_456 },
      ...{ sharePpm: 750_000, pubId: account.pubId, merchId },
    })
  const logged = [
    ...[click('a', kettles, 0), click('b', pans, 1), click('c', kettles, 2)],
    events.payment(START_MS + 5 * DAY_MS, 81, { merchId: kettles }),
  ]
  await api.app.node.appender.append(logged, { timeoutMs: TIMEOUT_MS })
  await api.app.untilFolded()
  await issueStatements(api.db, { now: new Date('2026-04-03T00:00:00Z') })
  await page.reload()

  const merchants = page.getByRole('region', { name: 'By merchant' }).first()
  const rows = merchants.getByRole('row')
  assert.match((await rows.nth(1).textContent()) ?? '', /^Pans\$60\.0925924 Mar 2026/)
  assert.match((await rows.nth(2).textContent()) ?? '', /^Kettles\$59\.4351845 Mar 2026/)

  const link = page.getByRole('link', { name: 'Mar 2026' })
  const [statement] = await Promise.all([page.waitForEvent('popup'), link.first().click()])
  await statement.getByRole('heading', { name: /^Statement S\d+-202603$/ }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV' }).click(),
  ])
  assert.match(download.suggestedFilename(), /^souk_statement_S\d+-202603\.csv$/)
  assert.match(await text(await download.createReadStream()), /,payout,,,,60\.75\n/)
})

/** A point of the background below the text of the last row. */
const GROUND_PX = 3

test('a table that scrolls shows a shadow at its edge until its end is reached', async (t) => {
  const { page } = await visitAs(account, t, { service: api.url, path: '/dashboard/payments' })
  await page.setViewportSize({ width: 390, height: 2_000 })
  await alter<Payments>(page, '**/payments/', (payments) => {
    const owed = { due_usd: '1.00', due_since: null, open_usd: '1.00', released_usd: '1.00' }
    payments.merchants = [{ merch_id: 1, merchant_name: 'Kettles', ...owed }]
  })
  await page.reload()
  const table = page.getByRole('region', { name: 'By merchant, table' })
  const box = await table.boundingBox()
  assert.ok(box !== null)
  const { x, y, width, height } = box
  const groundAt = (left: number) =>
    page.screenshot({
      clip: { x: left, y: y + height - 8, width: GROUND_PX, height: GROUND_PX },
    })
  const edge = x + width - 9 // Outside the rounded corner.
  assert.notDeepEqual(await groundAt(edge), await groundAt(x + width / 2))
  await table.evaluate((one) => one.scrollTo(one.scrollWidth, 0))
  assert.deepEqual(await groundAt(edge), await groundAt(x + width / 2))
})

test('the four stages form two rows of two on a phone, also with long amounts', async (t) => {
  const { page } = await visitAs(account, t, { service: api.url, path: '/dashboard/payments' })
  await page.setViewportSize({ width: 390, height: 900 })
  await alter<Payments>(page, '**/payments/', (payments) => {
    Object.assign(payments, { open_usd: '2504.130141', due_usd: '211.381459' })
  })
  await page.reload()
  await page.getByText('$2,504.13').first().waitFor()
  const tops = await page
    .locator('main dl > div')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
  const [first, second, third, fourth] = tops
  assert.deepEqual([second, fourth], [first, third])
})
