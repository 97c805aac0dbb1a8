/** The page of auctions that nobody won: reasons, missed earnings, and a receipt. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { micros } from '../src/platform/money/money.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { follow, makeMarket, runAuction, until, untilReceipt } from '../test/support/market.ts'
import type { NoFill } from './api.ts'
import { visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { account, kettles, link, campaign } = await makeMarket(api)

const visit = (t: TestContext, path = '/dashboard/unfilled') =>
  visitAs(account, t, { service: api.url, path })

test('lists a day’s unfilled auctions by the cost of each reason, with a link to a receipt', async (t) => {
  const { page } = await visit(t)
  await page.getByRole('heading', { name: 'No auctions on this day' }).waitFor()

  await campaign(kettles, { bid_micros: micros(600_000), devices: ['mobile'] })
  const auction = await runAuction(api, await link())
  await untilReceipt(api, auction)
  await sleep(320) // The service rejects clicks within 300 ms as automatic.
  await follow(api, auction.auction_result.redirect_url)
  await until(async () => (await api.db.row(sql`select from click`)) !== null)
  await page.reload()
  const reasons = page.getByRole('region', { name: 'Why nobody won' }).getByRole('listitem')
  await reasons.first().waitFor()
  assert.equal(await reasons.count(), 1)
  const words = (await reasons.innerText()).split('\n').filter((line) => line !== '')
  assert.deepEqual(words, [
    'Not for this device',
    "The merchant's campaign does not run on the reader's device.",
    '1 auction, 1 click · Receipt',
    'The link concerned',
    '$0.01 missed',
    '$0.01 if each had one click',
  ])
  await page.emulateMedia({ forcedColors: 'active' })
  const outline = await page
    .getByRole('meter')
    .evaluate((one) => getComputedStyle(one).outlineStyle)
  assert.equal(outline, 'solid', 'a bar is visible in the reader’s own colours')
  await page.getByRole('link', { name: 'Receipt' }).click()
  await page.getByRole('heading', { name: 'No winner' }).waitFor()
})

test('says when some auctions of a day are gone, or when the figures are a sample', async (t) => {
  const { page } = await visit(t, '/dashboard/unfilled?day=2026-03-01')
  await page.getByText('Choose a later day').waitFor()
  const some: NoFill = {
    ...{ held: 1_200_000, auctions: 20_010, unfilled: 0, unfilled_clicks: 0 },
    ...{ is_complete: false, reasons: [] },
  }
  await page.route('**/no_fill_sample/*', (route) => route.fulfill({ json: { data: [some] } }))
  await page.reload()
  await page.getByText('20,010 of the day’s 1,200,000 auctions').waitFor()
  await page.getByText('Some from this day may be missing').waitFor()
  await page.getByRole('heading', { name: 'Every auction had a winner' }).waitFor()
})

test('shows no unfilled auctions of another publisher, and refuses an invalid day', async (t) => {
  const { page, troubles } = await visit(t)
  const other = await api.account({})
  const ask = async (pubId: number, date: string) => {
    const path = `/api/v1/publishers/${pubId}/no_fill_sample/?date=${date}`
    return (await page.request.get(api.url + path)).status()
  }
  assert.equal(await ask(account.pubId, '2026-03-01'), 200)
  assert.equal(await ask(other.pubId, '2026-03-01'), 403)
  assert.equal(await ask(account.pubId, '2026-02-30'), 400)
  troubles.length = 0
})
