/**
 * Does what AMP's component for this interface does, step by step, from an AMP cache's origin:
 * configuration, LinkMate, beacons. AMP runs none of our tags; the service answers it.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { EVENT_TYPE } from '../src/events/event.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { until } from '../test/support/market.ts'
import { openPage } from './testing/browser.ts'
import { startNetwork } from './testing/network.ts'

const network = await startNetwork({ after })
const { web, service } = network
const product = `${web.host('kettles')}/p/1?x=%C3%A4&y=a+b#part`

test('serves an AMP page its configuration and links byte for byte, and counts its beacons', async (t) => {
  const article = `${web.host('amp.daily')}/story`
  web.publish('/amp', '<!doctype html><title>AMP</title>')
  const { page } = await openPage(t)
  // An origin other than the article's, as for pages in an AMP cache.
  await page.goto(`${web.host('daily-cache')}/amp`)
  const seen = await page.evaluate(
    async ({ base, url, raw }) => {
      const json = async (path: string, init: RequestInit = {}) => {
        const response = await fetch(base + path, { credentials: 'include', ...init })
        return { status: response.status, body: await response.json() }
      }
      const config = await json('/api/v0/publishers/DAILY/amp_config/')
      const { publisher_id } = config.body.data[0].amp_config
      const links = await json(`/api/v1/publishers/${publisher_id}/linkmate/smart_links/`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/plain;charset=utf-8' },
        body: JSON.stringify({
          article: { name: 'A story', url },
          links: [{ raw_url: raw, exclusive_match_requested: false }],
        }),
      })
      const user = {
        page_session_uuid: '6f1b2c34-5d6e-4f70-8a9b-0c1d2e3f4a5b',
        source_url: url,
        previous_url: '',
        user_agent: 'ignored',
      }
      const page_event = {
        events: [{ is_amp: true }],
        organization_id: publisher_id,
        organization_type: 'publisher',
        user,
      }
      const sent = [
        navigator.sendBeacon(
          `${base}/api/v1/events/impressions/page_impression/`,
          JSON.stringify(page_event),
        ),
        navigator.sendBeacon(
          `${base}/api/v1/events/impressions/bam_link_impression/`,
          JSON.stringify({
            ...page_event,
            events: [{ auction_id: links.body.data[0].smart_links[0].auction_id }],
          }),
        ),
      ]
      return { config, links, sent }
    },
    { base: service, url: article, raw: product },
  )
  assert.deepEqual(seen.config.body.data, [
    { amp_config: { linkmate_enabled: true, publisher_id: network.pubId } },
  ])
  const [link] = seen.links.body.data[0].smart_links
  assert.equal(link.url, product, 'byte for byte')
  assert.equal(typeof link.auction_id, 'string')
  assert.deepEqual(seen.sent, [true, true])
  await until(async () => (await network.recorded(article)).links.length > 0)
  const recorded = await network.recorded(article)
  assert.equal(recorded.pages, 1)
  assert.deepEqual(recorded.links, [link.auction_id])

  // The link that AMP writes: the id and its own mark.
  await page.goto(`${service}/${link.auction_id}/?amp=true`)
  assert.equal(new URL(page.url()).pathname, '/p/1')
  assert.match(page.url(), /cid=[0-9a-f]{32}#part$/)
})

test('the snippet "amp" leads a link of an AMP page to the shop, and leaves smart links alone', async (t) => {
  const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  const json =
    /snippet: amp -->[\s\S]*?"application\/json">([\s\S]*?)<\/script>/.exec(readme)?.[1] ?? ''
  const { output, attribute, vars } = JSON.parse(json.replace('YOUR-SLUG', 'daily'))
  // Like the component: a full match decides, and every value is encoded.
  const filter = new RegExp(`^${attribute.href}$`)
  assert.doesNotMatch('https://link.example/9007199254740993', filter)
  assert.match(product, filter)
  const article = `${web.host('amp.daily')}/rewritten`
  const values: Record<string, string> = { ...vars, href: product }
  const link = output
    .replace(/\$\{(\w+)\}/g, (_: string, name: string) => encodeURIComponent(values[name] ?? ''))
    .replace('SOURCE_URL', encodeURIComponent(article))
    .replace('https://link.example', service)
  web.publish('/rewritten', `<!doctype html><title>AMP</title><a href="${link}">a kettle</a>`)
  const { page } = await openPage(t)
  await page.goto(`${web.host('daily-cache')}/rewritten`)
  await page.locator('a').click()
  await page.waitForURL(/\/p\/1\?x=%C3%A4&y=a\+b&cid=[0-9a-f]{32}#part$/)
  await network.app.untilFolded()
  const clicks = await network.app.node.database.rows<{ reason: number }>(sql`
    select reason from event join smart_link using (auction_id) join article using (article_id)
    where type = ${EVENT_TYPE.click} and article.url = ${article}`)
  assert.deepEqual(clicks, [{ reason: 0 }])
})

test('a wrapper link in a mail leads to the shop with a click id and without a script', async (t) => {
  const { page } = await openPage(t, { javaScriptEnabled: false })
  const query = new URLSearchParams({
    url: `${web.host('kettles')}/p/2`,
    publisher_slug: 'daily',
    article_url: `${web.host('daily')}/letter`,
  })
  await page.goto(`${service}/link/?${query}`)
  assert.match(page.url(), /\/p\/2\?cid=[0-9a-f]{32}$/)
})
