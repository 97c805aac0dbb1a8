/** A merchant's campaigns: created, changed and paused in the browser. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createUser } from '../src/accounts/create-account.ts'
import { setMembership } from '../src/accounts/membership-store.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { makeMarket } from '../test/support/market.ts'
import { logIn, visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { kettles } = await makeMarket(api)
const person = async (name: string, role: 'manager' | 'viewer') => {
  const user = { email: `${name}@kettles.example`, password: 'a long password' }
  const { uid } = await createUser(api.db, { ...user, isAdmin: false })
  await setMembership(api.db, { uid, organization: { kind: 'merchant', id: kettles }, role })
  return user
}
const manager = await person('ann', 'manager')
const viewer = await person('bob', 'viewer')
const visit = { service: api.url, path: '/dashboard/campaigns' }

test('a manager creates a campaign, changes its bid, pauses and resumes it', async (t) => {
  const { page } = await visitPage(t, visit)
  await logIn(page, manager)
  await page.getByRole('button', { name: 'New campaign' }).click()
  await page.getByLabel('The most for a click').fill('0.45')
  await page.getByLabel('Budget per day').fill('50')
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('up to $0.45 for a click').waitFor()
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await page.getByText('The market is a second-price auction').waitFor()
  await page.getByRole('heading', { name: 'up to $0.45 a click' }).waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('The most for a click').fill('0.55')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('heading', { name: 'up to $0.55 a click' }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('It enters no auction until you resume it.').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
})

test('the form shows a refused value, and a change by somebody else', async (t) => {
  const { page, troubles } = await visitPage(t, visit)
  await logIn(page, manager)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('The most for a click').fill('much')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('US dollars as text').waitFor()
  await api.db.run(sql`update campaign set daily_budget_micros = 60000000`)
  await page.getByLabel('The most for a click').fill('0.60')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('The record was changed meanwhile').waitFor()
  await page.getByRole('button', { name: 'Load the present values' }).click()
  await page.getByLabel('Budget per day').and(page.locator('[value="60.00"]')).waitFor()
  const [campaign] = await api.db.rows<{ bid_micros: string }>(sql`select bid_micros from campaign`)
  assert.equal(campaign?.bid_micros, '550000')
  troubles.length = 0
})

test('a viewer sees campaigns and changes none', async (t) => {
  const { page } = await visitPage(t, visit)
  await logIn(page, viewer)
  await page.getByRole('heading', { name: 'up to $0.55 a click' }).waitFor()
  assert.equal(await page.getByRole('button', { name: /New|Edit|Pause/ }).count(), 0)
})
