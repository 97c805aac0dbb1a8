/** A publisher's settings in the browser. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../src/platform/postgres/sql.ts'
import { startApi } from '../test/support/api.ts'
import { visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const account = await api.account({ name: 'The Daily', tolerance_ppm: 50_000 })

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
