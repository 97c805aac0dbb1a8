/**
 * Each role's way from an invitation to its main decision, with the number of steps that it takes.
 * A step is one press, or one field filled.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createApiKey, createUser } from '../src/accounts/create-account.ts'
import type { Role } from '../src/accounts/permission.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { insertMerchant } from '../src/catalog/merchant-store.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { KETTLE, makeMarket } from '../test/support/market.ts'
import { visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const market = await makeMarket(api)
const { merch_id: merchId } = await insertMerchant(api.db, {
  ...MERCHANT_DEFAULTS,
  ...{ name: 'Mugs', domains: ['mugs.example'], uid: market.account.uid, is_confirming: true },
})
const operator = await createUser(api.db, {
  ...{ email: 'operator@souk.example', password: 'a long password', isAdmin: true },
})
const { key } = await createApiKey(api.db, {
  ...{ uid: operator.uid, description: 'invites', expiresAt: null, now: new Date() },
})

function steps(page: Page) {
  let taken = 0
  const press = async (role: 'button' | 'link', name: string | RegExp) => {
    taken += 1
    await page.getByRole(role, { name }).first().click()
  }
  const fill = async (label: string, text: string) => {
    taken += 1
    await page.getByLabel(label).fill(text)
  }
  const choose = async (label: string, option: string) => {
    taken += 1
    await page.getByLabel(label).first().selectOption(option)
  }
  /** The steps since the last call. */
  const count = () => {
    const counted = taken
    taken = 0
    return counted
  }
  return { press, fill, choose, counted: (more: number) => (taken += more), count }
}

/** Invites somebody, who accepts and logs in: 7 steps. */
async function joinAs(t: TestContext, path: string, role: Role, email: string) {
  const invitation = await api.call(`/api/v1/${path}/invitations/`, { key, body: { email, role } })
  assert.equal(invitation.status, 201, invitation.text)
  const { accept_url: url } = invitation.entry<{ accept_url: string }>()
  const { page } = await visitPage(t, { service: api.url, path: new URL(url).pathname })
  const taken = steps(page)
  await taken.fill('Your name', 'Ann')
  await taken.fill('Choose a password', 'a long password')
  await taken.press('button', 'Create account')
  await taken.press('link', 'Log in')
  await taken.fill('E-mail', email)
  await taken.fill('Password', 'a long password')
  await taken.press('button', 'Log in')
  await page.getByRole('button', { name: 'Account menu' }).waitFor()
  assert.equal(taken.count(), 7)
  return { page, ...taken }
}

test('an editor finds yesterday’s best link in one click from the overview', async (t) => {
  const [best, other] = [await market.link(KETTLE), await market.link('https://pans.example/p/1')]
  const earned = (auctionId: string, cents: number) => sql`
    insert into figure_day (pub_id, property, day, value, clicks, invalid_clicks, orders,
      revenue_micros, earnings_micros)
    values (${market.account.pubId}, 'link', (now() at time zone 'utc')::date - 1, ${auctionId},
      9, 0, 0, 0, ${cents * 10_000})`
  await api.db.run(earned(best, 345))
  await api.db.run(earned(other, 120))
  const at = `publishers/${market.account.pubId}`
  const { page, press, count } = await joinAs(t, at, 'manager', 'ed@daily.example')
  const list = page.getByRole('region', { name: 'Best links yesterday' }).getByRole('listitem')
  assert.match(await list.first().innerText(), /The Kettle\s+\$3\.45/)
  await press('link', 'The Kettle')
  await page.waitForURL(new RegExp(`/links/${best}`))
  assert.equal(count(), 1)
})

const FEED = [
  'Nr,Titel,link,price',
  'm1,Blue mug,https://mugs.example/1,12 USD',
  'm2,Red mug,https://mugs.example/2,free',
  '',
].join('\n')

test('a merchant goes from the log-in to a running campaign in 14 steps', async (t) => {
  const at = `merchants/${merchId}`
  const { page, ...steps } = await joinAs(t, at, 'manager', 'ann@mugs.example')
  const { press, fill, choose, counted, count } = steps
  await page.getByText('Set-up: 0 of 3 steps done.').waitFor()
  await press('link', 'Continue the set-up')
  await press('link', 'Add your feed')
  await press('button', 'Upload a file')
  const file = { name: 'feed.csv', mimeType: 'text/csv', buffer: Buffer.from(FEED) }
  await page.getByLabel(/^File/).setInputFiles(file)
  counted(1)
  await press('button', 'Upload and try')
  await page.getByText('none for product id, title').waitFor()
  await choose('Product id', 'Nr')
  await choose('Title', 'Titel')
  await press('button', 'Use these columns and try again')
  await page.getByText('the price is "free"').waitFor()
  await press('button', 'Import 1 product')
  await page.getByRole('heading', { name: /^Import of .*: done$/ }).waitFor()
  await press('link', 'Campaigns')
  await press('button', 'New campaign')
  await fill('The most for a click', '0.45')
  await press('button', 'Review')
  await page.getByText('There is no budget').waitFor()
  await press('button', 'Create campaign')
  await page.getByText('is created. Running.').waitFor()
  assert.equal(count(), 14)
  await page.goto(`${api.url}/dashboard/merchant/setup`)
  await page.getByText('1 product, 1 row rejected').waitFor()
  await page.getByText('1 campaign runs.').waitFor()
})

/** An order that only a browser reported waits for a decision. */
async function holdOrder(id: string): Promise<void> {
  const body = {
    organization_type: 'merchant',
    organization_id: merchId,
    user: { source_url: 'https://mugs.example/thanks' },
    events: [{ order: { id, value: '12.00', currency: 'USD' }, products: [] }],
  }
  const answer = await api.call('/api/v1/events/conversions/checkout/', {
    body,
    headers: { origin: 'https://mugs.example' },
  })
  assert.ok(answer.status < 300, answer.text)
  await api.app.untilFolded()
}

test('an operator approves a held order in two clicks from the overview', async (t) => {
  await holdOrder('R-1')
  const { page, press, count } = await joinAs(t, 'network', 'staff', 'sue@souk.example')
  await press('link', 'Held orders')
  await press('button', 'Approve R-1')
  await page.getByText('No order waits for a decision').waitFor()
  assert.equal(count(), 2)
})

test('a merchant rejects a held order in four steps, and its page says so', async (t) => {
  await holdOrder('R-2')
  const at = `merchants/${merchId}`
  const { page, press, fill, count } = await joinAs(t, at, 'owner', 'bea@mugs.example')
  await page.goto(`${api.url}/dashboard/merchant/orders`)
  await press('button', 'Show it')
  await press('button', 'Reject order R-2')
  await fill('Reason', 'Ordered twice')
  await press('button', 'Reject the order')
  await page.getByText('Order R-2 is rejected.').waitFor()
  assert.equal(count(), 4)
  await page.getByRole('heading', { name: 'No order waits' }).waitFor()
  await page.goto(`${api.url}/dashboard/merchant/orders/R-2`)
  await page.getByText('Rejected: Ordered twice.').first().waitFor()
})
