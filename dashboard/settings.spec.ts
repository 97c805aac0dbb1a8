/** The settings of a publisher and of a merchant in the browser. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createUser } from '../src/accounts/create-account.ts'
import { setMembership } from '../src/accounts/membership-store.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { findMerchant, insertMerchant } from '../src/catalog/merchant-store.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { logIn, visitAs, visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const account = await api.account({ name: 'The Daily', tolerance_ppm: 50_000 })

const { merch_id: merchId } = await insertMerchant(api.db, {
  ...MERCHANT_DEFAULTS,
  ...{ name: 'Mugs', domains: ['mugs.example'], uid: account.uid },
})
const manager = { email: 'ann@mugs.example', password: 'a long password' }
const { uid } = await createUser(api.db, { ...manager, isAdmin: false })
const organization = { kind: 'merchant', id: merchId } as const
await setMembership(api.db, { uid, organization, role: 'manager' })

test('an owner changes settings; a wrong one is refused at its field, others stay exact', async (t) => {
  const { page, troubles } = await visitAs(account, t, {
    service: api.url,
    path: '/dashboard/settings',
  })
  const save = () => page.getByRole('button', { name: 'Save settings' }).click()
  await page.getByLabel('Maximum price increase').fill('70')
  await save()
  await page.getByText('0 to 0.2').or(page.getByText('from 0 to 0.2')).first().waitFor()
  await page.getByLabel('Maximum price increase').fill('10')
  await page.getByLabel('Lowest price of a click').fill('0.05')
  await save()
  await page.getByText('Saved.').waitFor()
  const [row] = await api.db.rows(sql`
    select name, tolerance_ppm, floor_micros::int as floor from publisher
    where pub_id = ${account.pubId}`)
  assert.deepEqual(row, { name: 'The Daily', tolerance_ppm: 100_000, floor: 50_000 })
  troubles.length = 0
})

test('a merchant’s settings show the field of a refused value, and keep a viewer from changing', async (t) => {
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
