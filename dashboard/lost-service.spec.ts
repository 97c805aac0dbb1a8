/** The dashboard when its service is out of reach: away, silent, or beyond a lost network. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startApi } from '../test/api.ts'
import { makeMarket } from '../test/market.ts'
import { visitAs } from './testing/visit.ts'

// Over http, as the browser reaches it here: on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const { account } = await makeMarket(api)

const visit = (t: TestContext, path: string) => visitAs(account, t, { service: api.url, path })

test('a service that was away is asked until it answers', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/')
  await page.route('**/dashboard/api/**', (route) => route.abort())
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('It may be restarting. Trying again …').waitFor()
  await page.unroute('**/dashboard/api/**')
  await page.getByRole('heading', { name: 'No click on these days' }).waitFor()
  assert.equal(await alert.count(), 0)
  troubles.length = 0 // The calls that were cut off.
})

test('who has lost the network is told, and what was typed is still there', async (t) => {
  const { page, troubles } = await visit(t, '/dashboard/developer')
  await page.getByLabel('What is it for?').fill('my script')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Create key' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('The service does not answer').waitFor()
  assert.equal(await page.getByLabel('What is it for?').inputValue(), 'my script')
  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await alert.getByText('Trying again …').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('heading', { name: 'No click on these days' }).waitFor()
  assert.equal(await alert.count(), 0)
  troubles.length = 0 // The calls that were cut off.
})

test('a service that says nothing, or half an answer, is told as one that does not answer', async (t) => {
  const { page } = await visit(t, '/dashboard/')
  // As if the time had passed that a page waits.
  await page.addInitScript('AbortSignal.timeout = () => AbortSignal.abort()')
  await page.reload()
  await page.getByRole('alert').getByText('The service does not answer').waitFor()

  const { page: other } = await visit(t, '/dashboard/')
  await other.route('**/keys/', (route) => route.fulfill({ body: '{"info":{"err' }))
  await other.getByRole('link', { name: 'Developer', exact: true }).click()
  await other.getByRole('alert').getByText('The service does not answer').waitFor()
})
