/** The documentation in a browser: search, own values, old addresses, accessibility. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { openPage } from '../../tag/testing/browser.ts'
import { type Account, startApi } from '../../test/support/api.ts'
import { startTestApp } from '../../test/support/app.ts'
import { visitPage } from '../testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const account = await api.account(
  { slug: 'first', name: 'First' },
  { slug: 'second', name: 'Second' },
)

const visit = (t: TestContext, path: string, width?: number) =>
  visitPage(t, { service: api.url, path, width })

/** Opens the page again with a session of the dashboard. */
async function signIn(page: Page, { email, password }: Account): Promise<void> {
  const status = await page.evaluate(
    async (body) =>
      (
        await fetch('/api/v1/session/', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
      ).status,
    JSON.stringify({ email, password }),
  )
  assert.equal(status, 200)
  await page.reload()
}

const LOOKS = [
  { width: 1440, colorScheme: 'light', rules: null },
  { width: 390, colorScheme: 'dark', rules: null },
  // Only colours depend on the combination of both.
  { width: 390, colorScheme: 'light', rules: ['color-contrast'] },
  { width: 1440, colorScheme: 'dark', rules: ['color-contrast'] },
] as const

async function faultsOn(page: Page, { width, colorScheme, rules }: (typeof LOOKS)[number]) {
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ colorScheme })
  const { violations } = await page.evaluate(
    (only) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run({
        ...(only === null ? {} : { runOnly: [...only] }),
        resultTypes: ['violations'],
      }),
    rules,
  )
  const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  const found = violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)
  const all = isWider ? [...found, 'is wider than its window'] : found
  return all.map((fault) => `${page.url()} ${colorScheme} ${width}: ${fault}`)
}

test('no page violates an accessibility rule or is wider than its window', async (t) => {
  const { page } = await visit(t, '/docs/')
  const faults: string[] = []
  for (const path of ['', 'guides/create-links/', 'api/readers/', 'errors/']) {
    await page.goto(`${api.url}/docs/${path}`)
    // Through the debugger, to which the policy of the page does not apply.
    await page.evaluate(axe.source)
    for (const look of LOOKS) faults.push(...(await faultsOn(page, look)))
  }
  assert.deepEqual(faults, [])
})

test('the keyboard finds an endpoint by search and opens it', async (t) => {
  const { page } = await visit(t, '/docs/')
  await page.keyboard.press('/')
  await page.keyboard.type('report returned goods')
  const result = page.getByRole('link', { name: /^Report returned goods/ })
  await result.waitFor()
  await page.keyboard.press('ArrowDown')
  assert.ok(await result.evaluate((one) => document.activeElement === one))
  await page.keyboard.press('Enter')
  await page.waitForURL(`${api.url}/docs/api/merchants/#reportReturns`)
  assert.ok(await page.getByRole('heading', { name: /^Report returned goods/ }).isVisible())
})

test('a former address leads to the endpoint on its page', async (t) => {
  const { page } = await visit(t, '/docs/#createSmartLink')
  await page.waitForURL(`${api.url}/docs/api/publishers/#createSmartLink`)
})

test('examples contain the ids of a signed-in reader, and a test key that works', async (t) => {
  const { page } = await visit(t, '/docs/guides/create-links/')
  const code = page.locator('.pane-0 pre').first()
  assert.match(await code.innerText(), /YOUR-API-KEY.*"pub_id": YOUR-PUBLISHER-ID/s)
  await signIn(page, account)
  await page.getByLabel('Examples for the publisher').selectOption('Second')
  const pubId = account.publishers[1]?.pub_id
  await page.getByText(`"pub_id": ${pubId}`).first().waitFor()
  await page.getByRole('button', { name: 'Create a test key' }).click()
  await page.getByText('The examples contain your test key').waitFor()
  const [, key = ''] = /SERVICE-API-KEY (\S+)'/.exec(await code.innerText()) ?? []
  const links = await api.call(`/api/v1/publishers/${pubId}/links/`, { key })
  assert.equal(links.status, 200, links.text)
  const [own] = (await api.call('/api/v1/tokeninfo/', { key })).json<{ data: object[] }>().data
  assert.deepEqual(
    { ...own, rest: null },
    { ...own, rest: null, description: 'docs examples', scopes: ['figures.read', 'links.write'] },
  )
  await page.reload()
  await page.getByText(`"pub_id": ${pubId}`).first().waitFor()
  assert.match(await code.innerText(), /YOUR-API-KEY/)
})

test('copies an example, and shows the chosen language on every page', async (t) => {
  const { page } = await visit(t, '/docs/api/readers/')
  await page.evaluate('navigator.clipboard.writeText = (text) => { window.copied = text }')
  await page.getByText('Python', { exact: true }).first().click()
  await page.locator('.pane-2').first().getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  assert.match(String(await page.evaluate('window.copied')), /^import json\nimport urllib.request/)
  await page.goto(`${api.url}/docs/api/`)
  assert.ok(await page.getByText('urllib.request.urlopen').first().isVisible())
})

test('without JavaScript, the menu opens and examples change their language', async (t) => {
  const { page } = await openPage(t, {
    javaScriptEnabled: false,
    viewport: { width: 390, height: 800 },
  })
  await page.goto(`${api.url}/docs/api/`)
  await page.getByText('Menu', { exact: true }).click()
  await page.getByRole('link', { name: 'Send orders' }).click()
  await page.getByText('TypeScript', { exact: true }).first().click()
  assert.ok(await page.getByText('await fetch(').first().isVisible())
  assert.ok(await page.getByRole('button', { name: 'Search' }).isHidden())
})

test('the documentation and openapi.json name the base URL of the service', async (t) => {
  const env = { AUCTION_URL: 'https://auction.example', LINK_URL: 'https://go.example' }
  const { get, config } = await startTestApp(t, { env })
  const textOf = async (path: string) => (await get(path)).text()
  const [overview, readers, tag] = await Promise.all(
    ['/docs/api/', '/docs/api/readers/', '/docs/tag/'].map(textOf),
  )
  assert.ok(overview?.includes(`curl &#39;${config.baseUrl}/api/v1/tokeninfo/`))
  assert.ok(readers?.includes('curl &#39;https://auction.example/api/v1/auction/'))
  assert.ok(readers?.includes('curl &#39;https://go.example/link/'))
  assert.ok(tag?.includes(`src=&quot;${config.baseUrl}/tag/souk.js`))
  for (const page of [overview, readers, tag])
    assert.doesNotMatch(page ?? '', /(base|auction|link)_url\}/)
  const { servers, paths } = await (await get('/openapi.json')).json()
  assert.deepEqual(servers, [{ url: config.baseUrl }])
  assert.deepEqual(paths['/api/v1/auction/'].get.servers, [{ url: 'https://auction.example' }])
  assert.deepEqual(paths['/link/'].get.servers, [{ url: 'https://go.example' }])
})
