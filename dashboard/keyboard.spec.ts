/** The keyboard focus after a button has done its work. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startApi } from '../test/support/api.ts'
import { makeMarket } from '../test/support/market.ts'
import { focused, visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { account, link } = await makeMarket(api)

async function visit(t: TestContext, path: string) {
  const { page } = await visitAs(account, t, { service: api.url, path })
  const press = async (name: string) => {
    await page.getByRole('button', { name }).focus()
    await page.keyboard.press('Enter')
  }
  return { page, press }
}

test('keeps the keyboard focus when a button has done its work', async (t) => {
  const { page, press } = await visit(t, '/dashboard/links')
  await press('New link')
  assert.equal(await focused(page), 'New link')
  await page.keyboard.press('Tab')
  assert.equal(await focused(page), 'url')
  await page.getByLabel('Article', { exact: true }).fill('Mugs')
  await page.getByLabel('URL of the article').fill('https://daily.example/mugs')
  await press('Create link')
  await page.getByRole('status').locator('code').waitFor()
  assert.equal(await focused(page), 'Create link')
  await press('Close')
  assert.equal(await focused(page), 'New link')

  await page.getByRole('link', { name: 'Developer', exact: true }).click()
  await page.getByLabel('What is it for?').fill('kept')
  await press('Create key')
  await page.locator('#new-key').waitFor()
  assert.equal(await focused(page), 'Create key')
  await press('Done')
  await page.locator('#new-key').waitFor({ state: 'detached' })
  assert.match((await focused(page)) ?? '', /^A program with a key/)
  await press('Disable kept')
  await press('Disable it')
  await page.getByText('Disabled', { exact: true }).waitFor()
  assert.match((await focused(page)) ?? '', /^kept/)
})

test('keeps the keyboard focus at the end of a list, which says that it ends', async (t) => {
  const { page, press } = await visit(t, '/dashboard/links')
  await page.route('**/clicks/?*', (route) => {
    const next = route.request().url().includes('cursor') ? null : '5'
    return route.fulfill({ json: { data: [{ clicks: [], next, reasons: [] }] } })
  })
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await press('Earlier clicks')
  await page.getByRole('button', { name: 'End of the list', disabled: true }).waitFor()
  assert.equal(await focused(page), 'End of the list')
})

test('focuses the search field when all links are shown again', async (t) => {
  await link()
  const { page, press } = await visit(t, '/dashboard/links?find=samovar')
  await press('Show all links')
  await page.getByRole('button', { name: 'The Kettle', exact: true }).waitFor()
  const field = page.getByRole('searchbox', { name: 'Find links' })
  assert.ok(await field.evaluate((one) => one === document.activeElement))
  assert.equal(await field.inputValue(), '')
})

test('each of two copy buttons names what it copies', async (t) => {
  const { page } = await visit(t, '/dashboard/developer')
  await page.getByRole('heading', { name: 'Page tag' }).waitFor()
  const names = await page.getByRole('button', { name: /^Copy/ }).allInnerTexts()
  assert.deepEqual(names, ['Copy command', 'Copy tag'])
})
