/** The operator's pages, webhooks and changes, with one shared service. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createUser } from '../src/accounts/create-account.ts'
import { setMembership } from '../src/accounts/membership-store.ts'
import { NETWORK } from '../src/accounts/permission.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const HOSTILE = '<img src=x onerror=alert(1)>'
const account = await api.account({ name: 'The Daily', slug: 'daily' })
const admin = { email: 'admin@souk.example', password: 'a long password' }
await createUser(api.db, { ...admin, isAdmin: true })
const staff = { email: 'staff@souk.example', password: 'a long password' }
const { uid } = await createUser(api.db, { ...staff, isAdmin: false })
await setMembership(api.db, { uid, organization: NETWORK, role: 'staff' })
const visit = (path: string) => ({ service: api.url, path })

test('an administrator creates, changes and suspends organizations', async (t) => {
  const { page, troubles } = await visitAs(admin, t, visit('/dashboard/network/organizations'))
  await page.getByRole('button', { name: 'The Daily' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Share of each price, percent').fill('170')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('from 0 to 1').waitFor()
  troubles.length = 0 // The refused change.
  await form.getByLabel('Share of each price, percent').fill('82.5')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: '82.5 %' }).waitFor()
  await page.getByRole('button', { name: 'The Daily' }).click()
  await form.getByRole('button', { name: 'Suspend The Daily' }).click()
  await form.getByRole('button', { name: 'Suspend now' }).click()
  await form.getByRole('button', { name: 'Resume The Daily' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('cell', { name: 'Suspended' }).waitFor()
  const focus = await page.evaluate(() => document.activeElement?.textContent)
  assert.equal(focus, 'The Daily', 'the focus returns to the row')

  await page.getByRole('tab', { name: 'Merchants' }).click()
  await page.getByRole('button', { name: 'Create merchant' }).click()
  await form.getByLabel('Name').fill(HOSTILE)
  await form.getByLabel(/^Domains/).fill('kettles.example')
  await form.getByRole('button', { name: 'Create merchant' }).click()
  await form.getByText('It will not be shown again').waitFor()
  await form.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: HOSTILE }).waitFor()
})

test('somebody else’s change is not overwritten, and the form can load it', async (t) => {
  const { page, troubles } = await visitAs(admin, t, visit('/dashboard/network/organizations'))
  await page.getByRole('button', { name: 'The Daily' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Short name in URLs').fill('daily-2')
  await api.db.run(sql`
    update publisher set share_ppm = 600000, datetime_updated = now() where slug = 'daily'`)
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('button', { name: 'Load the changed record' }).click()
  await page.waitForFunction(
    () => (document.getElementById('share') as HTMLInputElement | null)?.value === '60',
  )
  troubles.length = 0 // The refused change.
})

test('an administrator records, sees and reverses a payment', async (t) => {
  const { page } = await visitAs(admin, t, visit('/dashboard/network/payments'))
  await page.getByRole('button', { name: 'Record a payment' }).click()
  const form = page.getByRole('dialog', { name: 'Record a payment' })
  await form.getByRole('combobox', { name: 'Merchant' }).click()
  await page.getByRole('option', { name: HOSTILE }).click()
  await form.getByLabel('Amount, $').fill('12.50')
  await form.getByLabel('The bank’s reference').fill('R-1')
  await form.getByRole('button', { name: 'Record payment' }).click()
  await page.getByText('It releases no earnings yet.').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('tab', { name: 'Payments received' }).click()
  await page.getByRole('button', { name: HOSTILE }).click()
  await page.getByLabel(/^Why\?/).fill('bounced')
  await page.getByRole('button', { name: 'Reverse payment' }).click()
  await page.getByText('Reversed: bounced').waitFor()
})

test('an administrator reverses flagged clicks together, with one reason', async (t) => {
  const { page } = await visitAs(admin, t, visit('/dashboard/network/approvals'))
  await page.getByText('None in the last 7 days.').waitFor()
  const sent: unknown[] = []
  await page.route('**/network/flagged_clicks/?*', (route) =>
    route.fulfill({ json: { data: sent.length < 2 ? [FLAGGED] : [], next_cursor: null } }),
  )
  await page.route('**/network/reversals/', (route) => {
    sent.push(route.request().postDataJSON())
    return route.fulfill({ status: 201, json: { data: [{ clicks: [] }] } })
  })
  await page.reload()
  await page.getByRole('button', { name: 'Reverse 2 paid clicks' }).click()
  await page.getByLabel(/^Why\?/).fill('a scanner')
  await page.getByRole('button', { name: 'Reverse', exact: true }).click()
  await page.getByText('None in the last 7 days.').waitFor()
  assert.deepEqual(
    sent,
    FLAGGED.clicks.map((click) => ({ click, reason: 'a scanner' })),
  )
})

test('a reversal that failed in the middle reverses the rest when tried again', async (t) => {
  const { page, troubles } = await visitAs(admin, t, visit('/dashboard/network/approvals'))
  const [first, second] = FLAGGED.clicks
  const reversed: string[] = []
  let failures = 1
  await page.route('**/network/flagged_clicks/?*', (route) =>
    route.fulfill({ json: { data: reversed.length < 2 ? [FLAGGED] : [], next_cursor: null } }),
  )
  await page.route('**/network/reversals/', (route) => {
    const { click } = route.request().postDataJSON()
    const isRefused = reversed.includes(click)
    if (isRefused || (click === second && failures-- > 0)) {
      const error = { code: 1, message: isRefused ? 'was reversed before' : 'try again' }
      return route.fulfill({ status: isRefused ? 409 : 400, json: { error } })
    }
    reversed.push(click)
    return route.fulfill({ status: 201, json: { data: [{ clicks: [] }] } })
  })
  await page.reload()
  await page.getByRole('button', { name: 'Reverse 2 paid clicks' }).click()
  await page.getByLabel(/^Why\?/).fill('a scanner')
  await page.getByRole('button', { name: 'Reverse', exact: true }).click()
  await page.getByText('try again').waitFor()
  await page.getByRole('button', { name: 'Reverse', exact: true }).click()
  await page.getByText('None in the last 7 days.').waitFor()
  assert.deepEqual(reversed, [first, second])
  assert.equal(troubles.splice(0).length, 2) // The two refusals.
})

const FLAGGED = {
  ...{ day: '2026-03-02', pub_id: account.pubId, clicks: ['a'.repeat(32), 'b'.repeat(32)] },
  ...{ invalid_clicks: 7, why: 'Too fast.', cost_usd: '0.40', earnings_usd: '0.30' },
}

test('an administrator finds a person and hands over a link for a new password', async (t) => {
  const { page } = await visitAs(admin, t, visit('/dashboard/network/people'))
  await page.getByRole('button', { name: account.email }).click()
  await page.getByRole('dialog').getByText('owner of The Daily').waitFor()
  await page.getByRole('button', { name: 'Get a link for a new password' }).click()
  await page.getByText('It works once, within an hour').waitFor()
  await page.getByRole('button', { name: /^Reset the second factor/ }).click()
  await page.getByRole('button', { name: 'Reset now' }).click()
  await page.getByText('Second factors removed').waitFor()
})

test('staff read everything, and learn why they cannot change it', async (t) => {
  const { page } = await visitAs(staff, t, visit('/dashboard/network/organizations'))
  await page.getByText('Your role here is staff, which cannot change organizations').waitFor()
  await page.getByRole('button', { name: 'The Daily' }).click()
  await page.getByText('Lowest price of a click').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0)
})

test('an owner creates a webhook, sends a test event and finds both changes', async (t) => {
  const { page } = await visitAs(account, t, visit('/dashboard/webhooks'))
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await page.getByLabel('URL of your server').fill('https://hooks.example/souk')
  await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
  await page.getByText('It will not be shown again', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByText('webhook.test').waitFor()
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByText('Switched off by a person.').waitFor()

  await page.getByRole('link', { name: 'Changes' }).click()
  await page.getByText('webhook.create').waitFor()
  await page.getByLabel('Action').fill('webhook.test')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByText('webhook.create').waitFor({ state: 'detached' })
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  assert.equal((await saving).suggestedFilename(), 'changes.csv')
})
