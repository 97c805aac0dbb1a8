/**
 * Each tag takes its settings and its service's address from its own script, whatever elements a
 * page's readers may have posted.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPage } from './testing/browser.ts'
import { startVisits } from './testing/visit.ts'

const { network, visit, redirectOf } = await startVisits({ after })
const { web, service } = network

test('an image named currentScript does not stand in for the page tag', async (t) => {
  web.publish(
    '/article.html',
    `<!doctype html><title>A page</title>
    <img name="currentScript" data-publisher="weekly" src="{trackers}/tag/x.png">
    <script src="{service}/tag/souk.js" data-publisher="daily"></script>
    <a id="smart" href="{service}/{smart 1}">smart</a>`,
  )
  const { page, requests } = await visit(t, 'article.html')
  await redirectOf(page, 'smart')
  assert.ok(!requests.some((request) => request.startsWith(`${web.host('trackers')}/api/`)))
})

test('an image named currentScript does not stand in for the merchant tag', async (t) => {
  web.publish(
    '/thanks.html',
    `<!doctype html><title>Thanks</title>
    <img name="currentScript" data-merchant="7" src="{trackers}/tag/x.png">
    <script>SOUK_ORDER = { order: { id: 'R-1', value: 1, currency: 'USD' } }</script>
    <script src="{service}/tag/souk-merchant.js" data-merchant="{shopid}"></script>`,
  )
  const { page, quiet, requests } = await openPage(t)
  await page.goto(`${web.host('kettles')}/thanks.html`)
  await quiet()
  const told = requests.filter((request) => request.includes('/checkout/'))
  assert.deepEqual(told, [`${service}/api/v1/events/conversions/checkout/`])
})
