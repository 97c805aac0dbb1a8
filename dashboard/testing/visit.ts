/** Opens the dashboard in a real browser with a real service, and logs in. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage } from '../../tag/testing/browser.ts'
import type { Account } from '../../test/support/api.ts'

export interface Visit {
  readonly page: Page
  /** Errors of the page and violations of its content security policy. */
  readonly troubles: string[]
  readonly requests: readonly string[]
}

/** The pictures of products in the tests' feeds: all that pages load from other hosts. */
const PICTURE = /^https:\/\/\w+\.example\/\d+\.jpg$/
const DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'

export async function visitPage(
  t: TestContext,
  { service, path, width = 1280 }: { service: string; path: string; width?: number | undefined },
): Promise<Visit> {
  const viewport = { width, height: 900 }
  const { page, errors: troubles, requests } = await openPage(t, { viewport })
  await page.route(PICTURE, (route) => route.fulfill({ contentType: 'image/svg+xml', body: DOT }))
  page.on('console', (message) => {
    // Chromium reports every 401 response, which is normal without a session.
    if (message.type() === 'error' && !message.text().includes('401')) troubles.push(message.text())
  })
  await page.goto(service + path)
  t.after(() => {
    assert.deepEqual(troubles, [])
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(`${service}/`) && !PICTURE.test(url)),
      [],
    )
  })
  return { page, troubles, requests }
}

/** The same for a user who is logged in. */
export async function visitAs(
  account: Pick<Account, 'email' | 'password'>,
  ...visit: Parameters<typeof visitPage>
): Promise<Visit> {
  const visited = await visitPage(...visit)
  await logIn(visited.page, account)
  return visited
}

export async function logIn(
  page: Page,
  { email, password }: Pick<Account, 'email' | 'password'>,
): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Account menu' }).waitFor()
}

export async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
}

/** The button that shows the present organization, for users with several. */
export const organizationSwitch = (page: Page) =>
  page.getByRole('combobox', { name: 'Organization', exact: true })

export async function switchTo(page: Page, organization: string): Promise<void> {
  await organizationSwitch(page).click()
  await page.getByRole('option', { name: organization }).click()
}

/** Chooses a named range of days. */
export async function chooseDays(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Days: / }).click()
  await page.getByRole('button', { name, exact: true }).click()
}

/** Changes a response of the service on its way to the page. */
export async function alter<T>(
  page: Page,
  path: string,
  change: (entry: T) => void,
): Promise<void> {
  await page.route(path, async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    json.data.forEach(change)
    await route.fulfill({ response, json })
  })
}

/** The element with the keyboard focus. */
export const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent)
