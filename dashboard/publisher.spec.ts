/** An editor's work: find the link that earns nothing, create links, try settings, get alerts. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { micros } from '../src/platform/money/money.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { KETTLE, makeMarket, runAuction, untilReceipt } from '../test/support/market.ts'
import { visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { account, kettles, link, campaign } = await makeMarket(api)
await campaign(kettles, { bid_micros: micros(600_000), devices: ['mobile'] })

const visit = (t: TestContext, path: string) => visitAs(account, t, { service: api.url, path })

test('a row of the list leads to the link, which says why nobody won and shows the receipt', async (t) => {
  const auctionId = await link(KETTLE)
  await untilReceipt(api, await runAuction(api, auctionId))
  const { page } = await visit(t, '/dashboard/links')
  await page.getByRole('button', { name: 'The Kettle', exact: true }).click()
  await page.getByText('1 of its latest 1 auctions (100 %) had no winner:').waitFor()
  await page.getByText('Not for this device', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Actions for The Kettle' }).click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await page.getByRole('heading', { name: 'Disabled', exact: true }).waitFor()
  const row = await api.db.row<{ state: string }>(sql`
    select state from smart_link where auction_id = ${auctionId}`)
  assert.equal(row?.state, 'disabled')

  await page.getByRole('link', { name: 'Receipt', exact: true }).click()
  await page.getByRole('heading', { name: 'No winner' }).waitFor()
})

test('before and after saving, a new link says whether anybody pays for it', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await page.getByRole('button', { name: 'New link' }).click()
  const product = page.getByRole('textbox', { name: 'Product page' })
  const preview = page.getByRole('status', { name: 'Before you save' })
  await product.fill(KETTLE)
  await preview.getByText('One merchant pays for a click').waitFor()
  await preview.getByText('Kettles', { exact: true }).waitFor()
  await product.fill('https://nobody.example/p/9')
  await preview.getByText('Nobody sells this here').waitFor()
  await page.getByLabel('Article', { exact: true }).fill('Mugs')
  await page.getByLabel('URL of the article').fill('https://daily.example/mugs')
  await page.getByRole('button', { name: 'Create link' }).click()
  await page.getByText('Created. Nobody sells this here. The link earns nothing.').waitFor()
})

test('a pasted article gets smart links for the links that earn', async (t) => {
  const { page } = await visit(t, '/dashboard/article')
  await page.getByLabel('URL of the article').fill('https://daily.example/tea')
  const html = `<a href="${KETTLE}">${KETTLE}</a> <a href="https://nobody.example/">other</a>`
  await page.getByRole('textbox', { name: 'The article', exact: true }).fill(html)
  await page.getByRole('button', { name: 'Check links' }).click()
  await page.getByText('Nobody sells this here').waitFor()
  await page.getByRole('button', { name: 'Create 1 smart link' }).click()
  const result = page.getByRole('textbox', { name: 'The article with smart links' })
  await result.waitFor()
  const text = await result.inputValue()
  assert.match(text, new RegExp(`^<a href="\\S+/\\d+">${KETTLE}</a> <a href="https://nobody`))
  assert.equal(await page.locator('ins').count(), 1)
})

test('a product search shows each merchant, its price, and a link to copy', async (t) => {
  const { page } = await visit(t, '/dashboard/products')
  await page.getByRole('searchbox', { name: 'Find products' }).fill('9521000000018')
  await page.keyboard.press('Enter')
  const card = page.getByRole('article', { name: 'The Kettle' })
  await card.getByText('pays nothing now').waitFor()
  assert.equal(await card.getByRole('button', { name: 'Copy link' }).count(), 2)
})

test('a tried floor can be applied, by keyboard', async (t) => {
  const { page } = await visit(t, '/dashboard/what-if')
  const floor = page.getByRole('slider', { name: 'Lowest price of a click' })
  await floor.focus()
  await page.keyboard.press('ArrowRight')
  await page.getByText('$0.01, now $0.00').waitFor()
  await page.getByRole('button', { name: 'Apply', exact: true }).press('Enter')
  await page.getByText('Saved. New auctions use it within seconds.').waitFor()
  const row = await api.db.row<{ floor_micros: string }>(sql`
    select floor_micros from publisher where pub_id = ${account.pubId}`)
  assert.equal(Number(row?.floor_micros), 10_000)
})

test('a check of a page shows what to do, and hostile texts of the page as texts', async (t) => {
  const hostile = '<img src=x onerror=alert(1)>'
  const link = {
    ...{
      text: hostile,
      url: 'javascript:alert(1)',
      status: 'left',
      why: hostile,
      auction_id: null,
    },
    ...{
      destination: null,
      has_winner: null,
      product: null,
      merchant: null,
      price: null,
      earns: null,
    },
  }
  const result = {
    findings: [{ level: 'problem', text: hostile, fix: 'Add the tag to the page.' }],
    ...{ tag: 'inserted', publisher: 'daily', consent: null, consent_source: null },
    ...{ links: [link], total_links: 1, page_errors: [hostile] },
  }
  await api.db.run(sql`
    insert into tag_check (pub_id, url, state, result)
    values (${account.pubId}, 'https://daily.example/', 'done', ${JSON.stringify(result)}::jsonb)`)
  const { page, troubles } = await visit(t, '/dashboard/tag')
  await page.getByText('Add the tag to the page.').waitFor()
  assert.ok((await page.getByText(hostile).count()) >= 2)
  assert.equal(await page.locator('main img').count(), 0)
  assert.equal(await page.locator('a[href^="javascript:"]').count(), 0)

  await page.getByLabel('URL of the page').fill('https://other.example/')
  await page.getByRole('button', { name: 'Check page' }).click()
  await page.getByText(/a domain of yours/).waitFor()
  troubles.length = 0 // The refused call.
})

test('storage for reports is added by a form, which never shows its keys again', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/scheduled-reports')
  await page.getByRole('button', { name: 'Add storage' }).click()
  const form = page.getByRole('form', { name: 'Add storage' })
  await form.getByLabel('Bucket and folder').fill('/srv/reports')
  await form.getByLabel('Access key').fill('AKID-of-daily')
  await form.getByLabel('Secret key').fill('a-secret-of-daily')
  await form.getByRole('button', { name: 'Add storage' }).click()
  await form.getByText('Must be s3://bucket/prefix').waitFor()
  // The name of no host: the delivery fails, and says so.
  await form.getByLabel('Endpoint').fill('https://storage.invalid')
  await form.getByLabel('Bucket and folder').fill('s3://reports/daily')
  await form.getByRole('button', { name: 'Add storage' }).click()
  await page.getByRole('heading', { name: 's3://reports/daily' }).waitFor()
  await page.getByRole('button', { name: 'Edit the delivery to s3://reports/daily' }).click()
  assert.equal(await page.getByLabel('Secret key').inputValue(), '')
  assert.ok(!(await page.content()).includes('AKID-of-daily'))
  troubles.length = 0 // The refused call.
})

test('alerts name the wrong address, and are saved without it', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/alerts')
  await page.getByRole('switch', { name: 'A link stops earning' }).click()
  const emails = page.getByLabel('E-mail addresses')
  await emails.fill('editor@daily.example, nonsense')
  await page.getByRole('button', { name: 'Save alerts' }).click()
  await page.getByText('“nonsense” must be an e-mail address').waitFor()
  await emails.fill('editor@daily.example')
  await page.getByRole('button', { name: 'Save alerts' }).click()
  await page.getByText('Saved.').waitFor()
  await page.reload()
  assert.equal(await emails.inputValue(), 'editor@daily.example')
  troubles.length = 0 // The refused call.
})
