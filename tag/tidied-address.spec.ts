/** The merchant tag in a shop whose own script takes the click id out of the address first. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPage } from './testing/browser.ts'
import { startNetwork } from './testing/network.ts'

const { web, merchId } = await startNetwork({ after })
const CLICK = 'a'.repeat(32)

test('a shop that tidies its address before the tag has loaded keeps the click', async (t) => {
  web.words.set('shopid', String(merchId))
  web.publish(
    '/tidy',
    `<!doctype html><title>Tidy</title><script>history.replaceState(null, '', '/p/1')</script>
<script async src="{service}/tag/souk-merchant.js" data-merchant="{shopid}"></script>`,
  )
  const { page, quiet } = await openPage(t)
  const views: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/page_view/')) views.push(request.postData() ?? '')
  })
  await page.goto(`${web.host('kettles')}/tidy?cid=${CLICK}#top`)
  await quiet()
  assert.match(page.url(), /\/p\/1$/)
  assert.match(await page.evaluate(() => document.cookie), new RegExp(`souk_clicks=${CLICK}`))
  const [view] = views.map((body) => JSON.parse(body))
  assert.deepEqual(view?.events, [{ click_ids: [CLICK], is_landing: true }])
})
