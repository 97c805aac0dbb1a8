/** The dashboard when its service is stopped, silent, or unreachable. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startApi } from '../test/support/api.ts'
import { makeMarket } from '../test/support/market.ts'
import { visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { account } = await makeMarket(api)

const visit = (t: TestContext, path: string) => visitAs(account, t, { service: api.url, path })

test('retries until a stopped service responds', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/')
  await page.route('**/api/**', (route) => route.abort())
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('It may be restarting. Trying again …').waitFor()
  await page.unroute('**/api/**')
  await page.getByRole('heading', { name: 'No clicks in this period' }).waitFor()
  assert.equal(await alert.count(), 0)
  troubles.length = 0 // The interrupted calls.
})

test('reports a lost network and preserves the input', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/developer')
  await page.getByLabel('What is it for?').fill('my script')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Create key' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('The service does not respond').waitFor()
  assert.equal(await page.getByLabel('What is it for?').inputValue(), 'my script')
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await alert.getByText('Trying again …').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('heading', { name: 'No clicks in this period' }).waitFor()
  assert.equal(await alert.count(), 0)
  troubles.length = 0 // The interrupted calls.
})

test('reports a silent service, or one that sends half a response, as not responding', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  // Simulates the timeout of the page.
  await page.addInitScript('AbortSignal.timeout = () => AbortSignal.abort()')
  await page.reload()
  await page.getByRole('alert').getByText('The service does not respond').waitFor()

  const { page: other } = await visit(t, '/dashboard/')
  await other.route('**/keys/*', (route) => route.fulfill({ body: '{"info":{"err' }))
  await other.getByRole('link', { name: 'Developer', exact: true }).click()
  await other.getByRole('alert').getByText('The service does not respond').waitFor()
})
