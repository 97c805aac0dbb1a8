/** Members, invitations, API keys and the list of changes, in a browser. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setMembership } from '../src/accounts/membership-store.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { logIn, visitAs, visitPage } from './testing/visit.ts'

const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const owner = await api.account({ slug: 'daily', name: 'Daily', domains: ['daily.example'] })
const at = { kind: 'publisher', id: owner.pubId } as const
const visit = (path: string) => ({ service: api.url, path })

test('an owner invites somebody, who makes an account, logs in and gets another role', async (t) => {
  const { page } = await visitAs(owner, t, visit('/dashboard/members'))
  await page.getByRole('heading', { level: 1, name: 'Daily · Members' }).waitFor()
  const email = 'editor@daily.example'
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Role', { exact: true }).selectOption('viewer')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const url = (await page.locator('code').textContent()) ?? ''
  await page.getByText('viewer · works until').waitFor()

  const guest = await visitPage(t, visit(new URL(url).pathname))
  await guest.page.getByRole('heading', { level: 1, name: 'Join Daily' }).waitFor()
  await guest.page.getByLabel('Your name').fill('Ed')
  await guest.page.getByLabel('Choose a password').fill('password1234')
  await guest.page.getByRole('button', { name: 'Create account' }).click()
  await guest.page.getByText('attackers try first').waitFor()
  await guest.page.getByLabel('Choose a password').fill('a long password')
  await guest.page.getByRole('button', { name: 'Create account' }).click()
  await guest.page.getByText('Your account is ready. You are viewer of Daily.').waitFor()
  await guest.page.getByRole('link', { name: 'Log in' }).click()
  await logIn(guest.page, { email, password: 'a long password' })
  await guest.page.goto(`${api.url}/dashboard/members`)
  await guest.page.getByText('Your role here is viewer').waitFor()
  guest.troubles.length = 0 // The refused password.

  await page.reload()
  await page.getByLabel(`Role of ${email}`).selectOption('manager')
  await page.getByRole('link', { name: 'Who changed what' }).click()
  await page.getByText('member.update').waitFor()
  await page.getByText('invitation.accept').waitFor()
  await page.goBack()
  await page.getByRole('button', { name: `Remove ${email}` }).click()
  await page.getByRole('button', { name: 'Remove now' }).click()
  await page.getByText(email).waitFor({ state: 'detached' })
  const left = await api.db.row<{ n: number }>(sql`
    select count(*)::int as n from membership where pub_id = ${at.id}`)
  assert.equal(left?.n, 1)
})

test('the last owner reads why they cannot leave', async (t) => {
  const { page, troubles } = await visitAs(owner, t, visit('/dashboard/members'))
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('button', { name: 'Leave now' }).click()
  await page.getByText('The last owner cannot leave').waitFor()
  troubles.length = 0 // The refused call.
})

test('an invited user with an account logs in and accepts', async (t) => {
  const { page } = await visitAs(owner, t, visit('/dashboard/members'))
  const other = await api.account({ slug: 'weekly', name: 'Weekly' })
  await page.getByLabel('E-mail').fill(other.email)
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const url = (await page.locator('code').textContent()) ?? ''
  const guest = await visitPage(t, visit(new URL(url).pathname))
  await guest.page.getByLabel('E-mail').fill(other.email)
  await guest.page.getByLabel('Password').fill(other.password)
  await guest.page.getByRole('button', { name: 'Log in' }).click()
  await guest.page.getByRole('button', { name: 'Accept' }).click()
  await guest.page.getByText('Done. You are viewer of Daily.').waitFor()
  await guest.page.reload()
  await guest.page.getByText('This invitation has been used').waitFor()
  guest.troubles.length = 0 // The invitation that is gone.
})

test('a key is created with the rights that are chosen', async (t) => {
  const { page } = await visitAs(owner, t, visit('/dashboard/developer'))
  await page.getByLabel('What is it for?').fill('report')
  await page.getByLabel('What may it do?').selectOption('figures')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('only figures.read').waitFor()
  const row = await api.db.row(sql`
    select scopes, pub_id from api_key where description = 'report'`)
  assert.deepEqual(row, { scopes: ['figures.read'], pub_id: at.id })
})

test('a viewer sees no keys and no members, and the network’s people have their own', async (t) => {
  const viewer = await api.account()
  await api.db.run(sql`delete from membership where uid = ${viewer.uid}`)
  await setMembership(api.db, { uid: viewer.uid, organization: at, role: 'viewer' })
  const { page } = await visitAs(viewer, t, visit('/dashboard/developer'))
  await page.getByText('Only owners and managers have this').waitFor()
  assert.equal(await page.getByRole('link', { name: 'Members' }).count(), 0)
})

test('a person changes name and password, and ends the session of another browser', async (t) => {
  const person = await api.account()
  const other = await visitAs(person, t, visit('/dashboard/'))
  const { page } = await visitAs(person, t, visit('/dashboard/account'))
  const sessions = page.getByRole('region', { name: 'Where you are logged in' })
  await page.getByLabel('Your name').fill('Ann')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByText('Saved.').waitFor()
  await sessions.getByRole('button', { name: 'End the session of Chrome on Linux' }).click()
  await sessions.getByRole('button').waitFor({ state: 'detached' })
  await other.page.reload()
  await other.page.getByLabel('Password').waitFor()
  await logIn(other.page, person)

  await page.reload()
  await sessions.getByRole('button').waitFor()
  await page.getByLabel('Current password').fill(person.password)
  await page.getByLabel('New password').fill('another long password')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Your other sessions have ended').waitFor()
  await sessions.getByRole('button').waitFor({ state: 'detached' })
  await other.page.reload()
  await logIn(other.page, { ...person, password: 'another long password' })
  const row = await api.db.row(sql`select name from app_user where uid = ${person.uid}`)
  assert.deepEqual(row, { name: 'Ann' })
})
