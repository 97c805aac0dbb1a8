/** A merchant's way from the log-in to a running campaign, and its decision on an order. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createUser } from '../src/accounts/create-account.ts'
import { setMembership } from '../src/accounts/membership-store.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { findMerchant, insertMerchant } from '../src/catalog/merchant-store.ts'
import { startApi } from '../test/support/api.ts'
import { logIn, visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const account = await api.account()
const { merch_id: merchId } = await insertMerchant(api.db, {
  ...MERCHANT_DEFAULTS,
  ...{ name: 'Mugs', domains: ['mugs.example'], uid: account.uid, is_confirming: true },
})
const manager = { email: 'ann@mugs.example', password: 'a long password' }
const { uid } = await createUser(api.db, { ...manager, isAdmin: false })
const organization = { kind: 'merchant', id: merchId } as const
await setMembership(api.db, { uid, organization, role: 'manager' })

/** Counts what a person does: one press, or one field filled. */
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
  return { press, fill, choose, counted: (more: number) => (taken += more), taken: () => taken }
}

const FEED = [
  'Nr,Titel,link,price',
  'm1,Blue mug,https://mugs.example/1,12 USD',
  'm2,Red mug,https://mugs.example/2,free',
  '',
].join('\n')

test('a merchant goes from the log-in to a running campaign in 14 steps', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/' })
  await logIn(page, manager)
  const { press, fill, choose, counted, taken } = steps(page)
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
  assert.equal(taken(), 14)
  await page.goto(`${api.url}/dashboard/merchant/setup`)
  await page.getByText('1 product, 1 row rejected').waitFor()
  await page.getByText('1 campaign runs.').waitFor()
})

test('a held order is rejected with a reason, and its page says so', async (t) => {
  const body = {
    organization_type: 'merchant',
    organization_id: merchId,
    user: { source_url: 'https://mugs.example/thanks' },
    events: [{ order: { id: 'R-1', value: '12.00', currency: 'USD' }, products: [] }],
  }
  const answer = await api.call('/api/v1/events/conversions/checkout/', {
    body,
    headers: { origin: 'https://mugs.example' },
  })
  assert.ok(answer.status < 300, answer.text)
  await api.app.settled()
  assert.equal((await findMerchant(api.db, merchId))?.is_confirming, true)
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/merchant/orders' })
  await logIn(page, manager)
  const { press, fill } = steps(page)
  await press('button', 'Show it')
  await press('button', 'Reject order R-1')
  await fill('Reason', 'Ordered twice')
  await press('button', 'Reject the order')
  await page.getByText('Order R-1 is rejected.').waitFor()
  await page.getByRole('heading', { name: 'No order waits' }).waitFor()
  await page.goto(`${api.url}/dashboard/merchant/orders/R-1`)
  await page.getByText('Rejected: Ordered twice.').first().waitFor()
})

test('settings show the field of a refused value, and keep a viewer from changing', async (t) => {
  const { page, troubles } = await visitPage(t, {
    service: api.url,
    path: '/dashboard/merchant/settings',
  })
  await logIn(page, manager)
  await page.getByLabel('Attribution window').fill('0')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await page.locator('#window_days[aria-invalid="true"]').waitFor()
  await page.getByLabel('Attribution window').fill('14')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await page.getByText('Saved. It holds within a few seconds.').waitFor()
  assert.equal((await findMerchant(api.db, merchId))?.window_days, 14)
  const viewer = { email: 'bob@mugs.example', password: 'a long password' }
  const bob = await createUser(api.db, { ...viewer, isAdmin: false })
  await setMembership(api.db, { uid: bob.uid, organization, role: 'viewer' })
  troubles.length = 0 // Chromium reports the refused change.
  const other = await visitPage(t, { service: api.url, path: '/dashboard/merchant/feed' })
  await logIn(other.page, viewer)
  await other.page.getByText('A manager or owner can change where it comes from.').waitFor()
  assert.equal(await other.page.getByRole('button', { name: /^(Save and|Upload)/ }).count(), 0)
})
