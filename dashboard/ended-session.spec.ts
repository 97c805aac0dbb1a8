/** Expired sessions, in this tab or another: which input is preserved, and for which user. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createUser } from '../src/accounts/create-account.ts'
import { startApi } from '../test/support/api.ts'
import { makeMarket } from '../test/support/market.ts'
import { logIn, logOut, visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { account } = await makeMarket(api)
const next = { email: 'next@daily.example', password: 'a long password' }
await createUser(api.db, { ...next, isAdmin: false })

const visit = (t: TestContext, path: string) => visitAs(account, t, { service: api.url, path })

const PRODUCT = 'https://elsewhere.example/p/9'
const product = (page: Page) => page.getByRole('textbox', { name: 'Product page' })

async function fillForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New link' }).click()
  await product(page).fill(PRODUCT)
  await page.getByLabel('Article', { exact: true }).fill('Mugs')
  await page.getByLabel('URL of the article').fill('https://daily.example/mugs')
}

const send = (page: Page) => page.getByRole('button', { name: 'Create link' }).click()

/** Fills the form and submits it after the session has expired. */
async function sendTooLate(page: Page): Promise<void> {
  await fillForm(page)
  await page.context().clearCookies()
  await send(page)
  await page.getByRole('heading', { name: 'Log in to Souk' }).waitFor()
}

test('the input is still there when the same account logs in again', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await sendTooLate(page)
  assert.equal(await page.getByRole('button', { name: 'Create link' }).count(), 0)
  assert.equal(await page.title(), 'Log in · Souk')
  await logIn(page, account)
  assert.equal(await product(page).inputValue(), PRODUCT)
  await page.getByRole('alert').getByText('Your session had ended. Try again.').waitFor()
  assert.equal(await page.title(), 'Smart links · Souk')
  await send(page)
  await page.getByRole('status').locator('code').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
})

test('a log-in form in the middle of work says why and that the work continues', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await sendTooLate(page)
  const why = page.getByText('Your session has ended. Log in to continue where you were.')
  await why.waitFor()
  await logIn(page, account)
  await logOut(page)
  await page.getByText('Your links, what they earn, and why.').waitFor()
  assert.equal(await why.count(), 0)
})

test('input survives a slow log-in, and the page sends no calls meanwhile', async (t) => {
  const { page, requests } = await visit(t, '/dashboard/links')
  await page.clock.install()
  await sendTooLate(page)
  await page.waitForLoadState('networkidle')
  const before = requests.length
  await page.clock.runFor('01:00:00')
  assert.deepEqual(requests.slice(before), [])
  await logIn(page, account)
  assert.equal(await product(page).inputValue(), PRODUCT)
})

test('a log-in in another tab preserves the input in this one', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await sendTooLate(page)
  const other = await page.context().newPage()
  await other.goto(`${api.url}/dashboard/developer`)
  await logIn(other, account)
  await page.getByRole('button', { name: 'Account menu' }).waitFor()
  assert.equal(await product(page).inputValue(), PRODUCT)
})

test('another account finds no input and no data of the previous one', async (t) => {
  const { page } = await visit(t, '/dashboard/links')
  await sendTooLate(page)
  await logIn(page, next)
  await page.getByText('Ask the operator of this service').waitFor()
  assert.ok(!(await page.content()).includes('Daily'))
  await logOut(page)
  await logIn(page, account)
  await page.getByRole('link', { name: 'Links', exact: true }).click()
  await page.getByRole('heading', { name: 'Smart links' }).waitFor()
  assert.equal(await product(page).count(), 0)
})

test('the back button after logging out shows nothing of the account, not even its new key', async (t) => {
  const { page } = await visit(t, '/dashboard/developer?from=2026-01-01&to=2026-01-02')
  await page.getByLabel('What is it for?').fill('A secret')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.locator('#new-key').waitFor()
  await logOut(page)
  const login = page.getByRole('heading', { name: 'Log in to Souk' })
  await login.waitFor()
  assert.equal(page.url(), `${api.url}/dashboard/`)
  // Playwright waits for a load event that a page from the back/forward cache does not have.
  await page.evaluate(() => history.back())
  await page.waitForURL('**/developer?*', { waitUntil: 'commit' })
  await login.waitFor()
  assert.equal(await page.locator('#new-key').count(), 0)
  assert.ok(!(await page.content()).includes(account.email))
})
