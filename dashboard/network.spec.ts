/** The operator's page: who is in the network, and suspending one of them. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createUser } from '../src/accounts/create-account.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { logIn, visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const account = await api.account({ name: 'The Daily' })
const admin = { email: 'admin@souk.example', password: 'a long password' }
await createUser(api.db, { ...admin, isAdmin: true })

test('an administrator sees everybody, and suspends and resumes a publisher', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/network' })
  await logIn(page, admin)
  await page.getByRole('heading', { name: 'Publishers (1)' }).waitFor()
  await page.getByRole('heading', { name: 'People (2)' }).waitFor()
  await page.getByRole('button', { name: 'Suspend The Daily' }).click()
  await page.getByRole('button', { name: 'Resume The Daily' }).click()
  await page.getByRole('button', { name: 'Suspend The Daily' }).waitFor()
  const entries = await api.db.rows<{ action: string }>(sql`
    select action from audit_entry order by audit_id`)
  assert.equal(entries.length, 2, 'both are in the audit log')
})

test('an administrator approves a held order in three clicks', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/' })
  await logIn(page, admin)
  const held = { ...HELD, merch_id: 1 }
  let isHeld = true
  await page.route('**/network/orders/held/?*', (route) =>
    route.fulfill({ json: { data: isHeld ? [held] : [], next_cursor: null } }),
  )
  await page.route('**/network/orders/held/7/approve/', (route) => {
    isHeld = false
    return route.fulfill({ json: { data: [held] } })
  })
  await page.reload()
  await page.getByRole('button', { name: 'Approve A-1001' }).click()
  await page.getByText('No order waits for a decision.').waitFor()
})

const HELD = {
  ...{ order_id: '7', checkout_id: 'A-1001', hold: 'review', currency: 'USD', value: '9000.00' },
  ordered_at: '2026-03-02T10:00:00Z',
}

test('shows a message to a person without a role in the network', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/network' })
  await logIn(page, account)
  await page.getByRole('heading', { name: 'Only for the operator' }).waitFor()
})
