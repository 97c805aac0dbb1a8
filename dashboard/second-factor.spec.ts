/** Logging in with a second factor, and new passwords, in a browser. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { startApi } from '../test/support/api.ts'
import { freePort } from '../test/support/free-port.ts'
import { startMailbox } from '../test/support/mailbox.ts'
import { logIn, logOut, visitPage } from './testing/visit.ts'

// A passkey belongs to a host name; an address is none.
const port = await freePort()
const service = `http://localhost:${port}`
const mailbox = await startMailbox({ after })
const api = await startApi(
  { after },
  { env: { BASE_URL: service, PORT: String(port), SMTP_URL: mailbox.url } },
)

const visit = (t: TestContext, path = '/dashboard/account') => visitPage(t, { service, path })

/** Chromium reports each refused call; the test knows how many there are. */
function expectRefusals(troubles: string[], count: number): void {
  const refusals = troubles.splice(0, troubles.length)
  assert.deepEqual(
    refusals.map((text) => /status of (\d+)/.exec(text)?.[1]),
    Array(count).fill('400'),
  )
}

/** Fills in the password; the second step follows. */
async function sendPassword(page: Page, account: { email: string; password: string }) {
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password').fill(account.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'Second step' }).waitFor()
}

const inside = (page: Page) => page.getByRole('button', { name: 'Account menu' }).waitFor()

test('logs in with a passkey of the browser', async (t) => {
  const account = await api.account()
  const { page } = await visit(t)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true },
    },
  })
  await logIn(page, account)
  await page.getByLabel('Name of the new passkey').fill('This laptop')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('not used yet').waitFor()
  await logOut(page)
  await sendPassword(page, account)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await inside(page)
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Your account' }).click()
  await page.getByText('last used').waitFor()
  await page.getByRole('button', { name: 'Remove This laptop' }).click()
  await page.getByText('This laptop').waitFor({ state: 'detached' })
})

test('logs in with a code of an app, or with a recovery code', async (t) => {
  const account = await api.account()
  const { page, troubles } = await visit(t)
  await logIn(page, account)
  await page.getByRole('button', { name: 'Set up an app' }).click()
  const secret = (await page.locator('code').innerText()).replaceAll(' ', '')
  const totp = new TOTP({ secret })
  await page.getByLabel('Code that the app shows').fill('000000')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('Is not the code').waitFor()
  expectRefusals(troubles, 1)
  await page.getByLabel('Code that the app shows').fill(totp.generate())
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('Log-in asks for a code of your app.').waitFor()
  await page.getByRole('button', { name: 'Get new recovery codes' }).click()
  const codes = page.getByRole('region', { name: 'Recovery codes' })
  const code = await codes.getByRole('listitem').first().innerText()
  await logOut(page)

  await sendPassword(page, account)
  // The code of the next step: the present one was used to confirm.
  const next = totp.generate({ timestamp: Date.now() + 30_000 })
  await page.getByLabel('Code of your authenticator app').fill(next)
  await page.getByRole('button', { name: 'Continue' }).click()
  await inside(page)
  await logOut(page)
  await sendPassword(page, account)
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel('Recovery code').fill(code)
  await page.getByRole('button', { name: 'Continue' }).click()
  await inside(page)
})

test('a mailed link leads to a new password, once', async (t) => {
  const account = await api.account()
  const { page, troubles } = await visit(t, '/dashboard/')
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  // The log-in, which has such a field too, stays until the page is loaded.
  await page.getByRole('button', { name: 'Send a link' }).waitFor()
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByRole('button', { name: 'Send a link' }).click()
  await page.getByText('a link is on its way').waitFor()
  const [link = ''] = /http\S+#token=\S+/.exec((await mailbox.next()).text) ?? []
  await page.goto(link)
  await page.getByLabel('New password').fill('short')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Must have 10 to 256 characters').waitFor()
  const password = 'an unusual sentence'
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('link', { name: 'Log in' }).click()
  await logIn(page, { email: account.email, password })
  await page.goto('about:blank')
  await page.goto(link)
  await page.getByLabel('New password').fill('another sentence')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('This link was used').waitFor()
  assert.equal(await page.getByLabel('New password').count(), 0)
  expectRefusals(troubles, 2)
})
