/** Pages that show one article below the other and change their URL as the reader scrolls. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../test/support/market.ts'
import { openPage, passTime } from './testing/browser.ts'
import { type StandIn, startStandIn } from './testing/stand-in.ts'

const id = (at: number): string => String(9_007_199_254_740_993n + BigInt(at))

/** Three articles, each taller than the screen; the URL follows the one in view. */
const article = (write: 'pushState' | 'replaceState'): string => `<!doctype html>
<title>Articles</title><style>article { height: 2000px }</style>
${[1, 2, 3]
  .map(
    (at) => `<article id="${at}"><a href="{link}/${id(at)}">one</a> <a href="/x">x</a></article>`,
  )
  .join('')}
<script>
addEventListener('scroll', () => {
  const at = 1 + Math.floor((scrollY + 400) / 2000)
  const path = at > 1 ? '/article-' + at : '/article'
  if (location.pathname !== path) history.${write}({}, '', path)
})
</script>
<script async src="/tag/souk.js" data-publisher="demo"></script>`

interface Sent {
  readonly user: { page_session_uuid: string; source_url: string }
  readonly events: { auction_id?: string }[]
}

async function scrollTo(page: Page, at: number): Promise<void> {
  await page.evaluate((top) => window.scrollTo(0, top), (at - 1) * 2000)
  const path = at > 1 ? `/article-${at}` : '/article'
  await page.waitForFunction((wanted) => location.pathname === wanted, path)
  // The tag scans the page 200 ms after a change.
  await passTime(page, 500)
}

const sessions = (service: StandIn) => {
  const of = (type: string) =>
    service.calls
      .filter(({ url }) => url.includes(`/impressions/${type}/`))
      .map(({ body }) => JSON.parse(body) as Sent)
  const pages = of('page_impression').map(({ user }) => new URL(user.source_url).pathname)
  const links = of('service_link_impression').flatMap(({ user, events }) =>
    events.map(({ auction_id }) => `${new URL(user.source_url).pathname} ${auction_id}`),
  )
  const auctions = service.calls.filter(({ call }) => call === 'auction')
  const uuids = auctions.map(({ url }) => new URL(url, 'http://x').searchParams.get('uuid'))
  return { pages, links, auctions, uuids }
}

for (const write of ['replaceState', 'pushState'] as const) {
  test(`an article that the reader scrolls to and from stays one page session (${write})`, async (t) => {
    const service = await startStandIn(t, { article: article(write) })
    const { page, errors } = await openPage(t)
    await page.goto(service.articleUrl)
    const hrefs = () => page.evaluate(() => [...document.links].map(({ href }) => href))
    await until(async () => (await hrefs()).filter((href) => href.includes('?a=')).length === 3)
    const first = await hrefs()
    for (const at of [2, 1, 2, 3, 2, 1, 2, 1]) await scrollTo(page, at)
    const { pages, links, auctions, uuids } = sessions(service)
    assert.deepEqual(pages, ['/article', '/article-2', '/article-3'])
    assert.equal(new Set(uuids).size, 3)
    assert.equal(auctions.length, 9, 'one auction a link and article')
    assert.equal(new Set(links).size, links.length, 'no impression is sent twice')
    assert.deepEqual(await hrefs(), first, 'the outcome of the first session again')
    assert.deepEqual(errors, [])
  })
}

test('opening an article again by a link starts another page session', async (t) => {
  const service = await startStandIn(t, { article: article('replaceState') })
  const { page } = await openPage(t)
  await page.goto(service.articleUrl)
  await until(() => sessions(service).auctions.length === 3)
  for (const path of ['/article-2', '/article']) {
    await page.evaluate((to) => history.pushState({}, '', to), path)
    await passTime(page, 500)
  }
  assert.deepEqual(sessions(service).pages, ['/article', '/article-2', '/article'])
})
