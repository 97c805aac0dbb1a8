/** What the tags show to editors and shops on pages of another direction than theirs. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startVisits } from './testing/visit.ts'

const { network, visit } = await startVisits({ after })
const { web } = network

test('the overlay and test mode read from left to right on every page', async (t) => {
  const scripts = `<script async src="{service}/tag/souk.js" data-publisher="daily"></script>
<script async src="{service}/tag/souk-merchant.js" data-merchant="{shopid}" data-test></script>`
  web.publish('/rtl.html', `<html dir="rtl"><title>R</title><body>${scripts}<a href="/">Home</a>`)
  const { page } = await visit(t, 'rtl.html#souk-debug')
  await page.getByText('1 link: 0 auctioned').waitFor()
  for (const panel of ['section', '#souk-test']) {
    const direction = await page.locator(panel).evaluate((one) => getComputedStyle(one).direction)
    assert.equal(direction, 'ltr', panel)
  }
})
