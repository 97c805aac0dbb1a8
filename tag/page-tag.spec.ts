/**
 * The page tag on real pages against the real service. Assertions use the service's records, not
 * the page's view.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { insertMerchant } from '../src/catalog/merchant-store.ts'
import { EVENT_TYPE } from '../src/events/event.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { until } from '../test/support/market.ts'
import { attribute, startVisits } from './testing/visit.ts'

const visits = await startVisits({ after })
const { network, visit, redirectOf } = visits
const { web, service } = network
const [first, second, third] = visits.ids
const kettles = (at: number): string => `${web.host('kettles')}/p/${at}`

test('runs one auction per smart link, counts one impression per occurrence, and rewrites all alike', async (t) => {
  const { page, errors, auctions, url } = await visit(t, 'smart-links.html')
  assert.deepEqual(auctions.map((query) => query.get('a')).sort(), [first, second].sort())
  const uuids = new Set(auctions.map((query) => query.get('uuid')))
  assert.equal(uuids.size, 1)
  assert.match(
    [...uuids][0] ?? '',
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  assert.match(auctions[0]?.get('t') ?? '', /^\d+$/)

  const plain = await redirectOf(page, 'plain')
  assert.equal(plain.searchParams.get('a'), first)
  assert.equal(plain.searchParams.get('uuid'), [...uuids][0])
  assert.equal(plain.searchParams.get('url'), kettles(1))
  for (const id of ['slash', 'short']) {
    assert.equal((await redirectOf(page, id)).href, plain.href, id)
  }
  const labelled = await redirectOf(page, 'query')
  assert.equal(labelled.href, `${plain.href}&u1=table&utm_source=letter`)
  assert.equal((await redirectOf(page, 'amp')).href, `${plain.href}&u1=x`)
  assert.equal((await redirectOf(page, 'area')).href, (await redirectOf(page, 'other')).href)
  assert.equal(await attribute(page, 'short', 'rel'), 'nofollow noopener sponsored')
  assert.equal(await attribute(page, 'plain', 'rel'), 'sponsored nofollow')
  assert.equal(await page.locator('#other').innerHTML(), '<b>another</b> smart link')

  const ours = new URL(service).host
  for (const [id, href] of [
    ['noauction', `${service}/${third}`],
    ['donotlink', `${service}/${third}#donotlink`],
    ['ignored', `${service}/${third}`],
    ['toolong', `http://${ours}/9223372036854775808`],
    ['local', '/elsewhere'],
  ] as const) {
    assert.equal(await attribute(page, id, 'href'), href, id)
    assert.equal(await attribute(page, id, 'data-souk-auction'), null, id)
  }
  assert.match((await attribute(page, 'wrapper', 'href')) ?? '', /\/link\/\?url=/)

  const recorded = await network.recorded(url)
  assert.equal(recorded.pages, 1)
  assert.equal(recorded.sessions, 1)
  const occurrences = [...Array(5).fill(first), second, second, third].sort()
  assert.deepEqual(recorded.links, occurrences)
  assert.deepEqual(errors, [])
})

test('fires each tracker once per page and event, hidden, with {RAND} filled in', async (t) => {
  const before = web.trackers.length
  const { page, requests } = await visit(t, 'smart-links.html')
  const fired = web.trackers.slice(before).map(({ path }) => path)
  assert.deepEqual(fired.map((path) => path.split('?')[0]).sort(), ['/second', '/seen', '/viewed'])
  for (const path of fired) assert.match(path, /\?r=\d+(&s=\d+)?$/)
  const images = page.locator(`img[src^="${web.host('trackers')}"]`)
  assert.equal(await images.count(), 3)
  for (const image of await images.all()) assert.equal(await image.isVisible(), false)
  const pixels = requests.filter((url) => url.includes('/api/v1/pixel/'))
  assert.equal(pixels.length, 2, 'one pixel per auction')
})

test('makes a member’s raw links smart, in the order of the page, requesting each once', async (t) => {
  const bodies: string[] = []
  const { page, errors, url } = await visit(t, 'raw-links.html', async (page) => {
    page.on('request', (request) => {
      if (request.url().includes('/linkmate/')) bodies.push(request.postData() ?? '')
    })
  })
  assert.equal(bodies.length, 1)
  const { article, links, unwrap_links } = JSON.parse(bodies[0] ?? '')
  assert.deepEqual(article, { name: 'Raw links of a program member', url })
  assert.equal(unwrap_links, true)
  const wrapped = `https://go.redirectingat.com/?id=1&url=${kettles(3)}`
  const quiet = (at: number): string => `${web.host('quiet')}/p/${at}`
  assert.deepEqual(links, [
    { raw_url: kettles(1), exclusive_match_requested: false },
    { raw_url: `${kettles(2)}#locklink`, exclusive_match_requested: true },
    { raw_url: wrapped, exclusive_match_requested: false },
    { raw_url: quiet(1), exclusive_match_requested: false },
    { raw_url: quiet(2), exclusive_match_requested: false },
    { raw_url: 'https://nobody.example/p/1', exclusive_match_requested: false },
  ])
  const one = await redirectOf(page, 'one')
  assert.equal((await redirectOf(page, 'again')).href, one.href)
  assert.equal((await redirectOf(page, 'quiet')).searchParams.get('url'), quiet(1))
  assert.equal((await redirectOf(page, 'wrapped')).searchParams.get('url'), kettles(3))
  await redirectOf(page, 'two')
  // Outside the network the redirect needs a referrer: this link may send one now.
  assert.equal((await redirectOf(page, 'hidden')).searchParams.get('url'), quiet(2))
  assert.equal(await attribute(page, 'hidden', 'rel'), 'noopener sponsored nofollow')
  for (const id of ['foreign', 'donotlink', 'noauction', 'ignored', 'local', 'mail']) {
    assert.equal(await attribute(page, id, 'rel'), id === 'noauction' ? 'noauction' : null, id)
  }
  assert.equal(await attribute(page, 'foreign', 'href'), 'https://nobody.example/p/1')
  assert.equal(await attribute(page, 'foreign', 'data-souk-auction'), null)
  const { links: counted } = await network.recorded(url)
  assert.equal(counted.length, 6)
  assert.equal(new Set(counted).size, 5)
  assert.deepEqual(errors, [])
})

test('a link starts to earn on an open page once its merchant has joined the network', async (t) => {
  const [shop, wiki] = [web.host('joining'), web.host('encyclopedia')]
  web.publish(
    '/joining.html',
    `<!doctype html><title>Joining</title>
<p><a id="shop" class="x" href="${shop}/p/1">a shop</a>, <a id="wiki" href="${wiki}/a">a source</a>,
<a id="known" href="${kettles(1)}">a kettle</a></p>
<script async src="${service}/tag/souk.js" data-publisher="daily"></script>`,
  )
  const { page, quiet, errors, url } = await visit(t, 'joining.html', async (page) => {
    await page.clock.install()
  })
  const markup = (id: string) => page.locator(`#${id}`).evaluate((anchor) => anchor.outerHTML)
  const written = await markup('shop')
  assert.equal(written, `<a id="shop" class="x" href="${shop}/p/1">a shop</a>`)
  const source = await markup('wiki')
  const known = await redirectOf(page, 'known')

  const domains = ['joining.localhost']
  const settings = { ...MERCHANT_DEFAULTS, name: 'Joining', domains, origins: [] }
  const { merch_id } = await insertMerchant(network.app.node.database, settings)
  const { market } = network.app.node.edge
  await until(() => network.app.node.edge.market !== market)
  assert.ok(network.app.node.edge.market.merchants.has(merch_id))
  await page.clock.fastForward(300_000)
  await page.locator('#shop[data-souk-auction]').waitFor()
  await quiet()
  assert.equal((await redirectOf(page, 'shop')).searchParams.get('url'), `${shop}/p/1`)
  assert.equal(await markup('wiki'), source)
  assert.equal((await redirectOf(page, 'known')).href, known.href, 'no second auction')
  assert.equal((await network.recorded(url)).sessions, 1)
  assert.deepEqual(errors, [])
})

test('in WebKit, which never forgets a noreferrer, leaves an unsold link that has it unchanged', async (t) => {
  const { page } = await visit(t, 'raw-links.html', async (page) => {
    await page.addInitScript(() =>
      Object.defineProperty(navigator, 'vendor', { value: 'Apple Computer, Inc.' }),
    )
  })
  assert.equal(await attribute(page, 'hidden', 'href'), `${web.host('quiet')}/p/2`)
  assert.equal(await attribute(page, 'hidden', 'rel'), 'noreferrer noopener')
  for (const id of ['one', 'quiet']) await redirectOf(page, id)
})

test('a click on a rewritten link lands at the shop with a click id and is recorded', async (t) => {
  const { page, url } = await visit(t, 'smart-links.html')
  await page.locator('#query').click()
  await page.waitForURL(/\/p\/1\?cid=[0-9a-f]{32}$/)
  assert.equal(new URL(page.url()).origin, web.host('kettles'))
  await network.app.untilFolded()
  const clickId = new URL(page.url()).searchParams.get('cid')
  const click = await network.app.node.database.row<object>(sql`
    select auction_id, reason, merch_id, u1, utm_source, referrer from event
    where type = ${EVENT_TYPE.click} and encode(click_id, 'hex') = ${clickId}`)
  assert.deepEqual(
    { ...click },
    {
      ...{ auction_id: first, reason: 0, merch_id: network.merchId },
      // The browser sends other sites its origin only.
      ...{ u1: 'table', utm_source: 'letter', referrer: `${new URL(url).origin}/` },
    },
  )
})

test('publishes an outcome on the anchor, where it can be shown as text but never as HTML', async (t) => {
  const { page, errors } = await visit(t, 'text.html')
  const outcome = JSON.parse((await attribute(page, 'won', 'data-souk-auction')) ?? '')
  assert.equal(outcome.product.price, '49.99')
  assert.equal(outcome.product.merchant.name, 'The kettles shop')
  assert.equal(outcome.has_winner, true)
  const text = (id: string) => page.locator(`#${id}`).innerHTML()
  assert.equal(await text('won'), '$49.99 at The kettles shop, in stock')
  assert.match(await text('inside'), /^<img .*> <span .*>Thing 2 &lt;of&gt; kettles<\/span>$/)
  assert.equal(await text('kept'), 'the <em>original</em> words')
  assert.equal(await text('merchant-name'), 'The kettles shop')
  assert.deepEqual(errors, [])
})

test('another article in a single-page application is another page session', async (t) => {
  const { page, quiet, auctions: seen, url, errors } = await visit(t, 'single-page.html')
  assert.equal(seen.length, 2)
  const before = await redirectOf(page, 'footer')
  await page.locator('#next').click()
  await quiet()
  const after_ = await redirectOf(page, 'footer')
  assert.notEqual(after_.searchParams.get('uuid'), before.searchParams.get('uuid'))
  const host = new URL(url).origin
  const [one, two] = [await network.recorded(url), await network.recorded(`${host}/article-2`)]
  assert.deepEqual([one.pages, two.pages], [1, 1])
  assert.deepEqual(one.links, [first, second].sort())
  assert.deepEqual(two.links, [second, third].sort())
  assert.deepEqual(two.referrers, [url])
  // Scrolling the page is not another article.
  await page.evaluate(() => history.pushState({}, '', '#part'))
  await page.evaluate(() =>
    history.replaceState({}, '', `${location.pathname}?utm_source=x&msclkid=y`),
  )
  await quiet()
  assert.equal((await network.recorded(`${host}/article-2`)).pages, 1)
  assert.deepEqual(errors, [])
})

test('an anchor that the page reuses for another link keeps nothing of the first one', async (t) => {
  const { page, quiet, errors } = await visit(t, 'text.html')
  const shown = (id: string) =>
    page.locator(`#${id}`).evaluate((anchor: HTMLAnchorElement) => ({
      text: anchor.textContent,
      rel: anchor.getAttribute('rel'),
      merchant: JSON.parse(anchor.dataset.soukAuction ?? '{}').product?.merchant.name,
    }))
  const lead = (id: string, href: string) =>
    page.locator(`#${id}`).evaluate((anchor, to) => anchor.setAttribute('href', to), href)
  assert.match((await shown('won')).text ?? '', /^\$49\.99 at/)
  await lead('won', '/of-our-own')
  await lead('scripted', `${web.host('quiet')}/p/1`)
  await quiet()
  const words = { text: 'the original words', rel: null, merchant: undefined }
  assert.deepEqual(await shown('won'), words)
  assert.equal((await shown('scripted')).merchant, 'The quiet shop')

  // The same when another article arrives with it.
  await lead('won', kettles(1))
  await quiet()
  await page.evaluate(() => history.pushState({}, '', '/another-article'))
  await lead('won', '/of-our-own')
  await quiet()
  assert.deepEqual(await shown('won'), words)
  assert.deepEqual(errors, [])
})

test('keeps the page’s own changes to a link when its outcome is reverted', async (t) => {
  const { page, quiet } = await visit(t, 'text.html')
  const anchor = page.locator('#won')
  await anchor.evaluate((one: HTMLAnchorElement) => {
    one.textContent = 'new words'
    one.rel = 'author'
    history.pushState({}, '', '/another-article')
  })
  await anchor.evaluate((one) => one.setAttribute('href', '/of-our-own'))
  await quiet()
  assert.equal(await anchor.textContent(), 'new words')
  assert.equal(await attribute(page, 'won', 'rel'), 'author')
  assert.equal(await attribute(page, 'won', 'data-souk-auction'), null)
})

test('counts a copy of a link, and the next auction redirects it elsewhere', async (t) => {
  const visited = await visit(t, 'late-links.html')
  const { page, quiet, url } = visited
  await page.evaluate(() => {
    const copy = document.links[0]?.cloneNode(true) as HTMLElement
    copy.id = 'copy'
    document.body.append(copy)
  })
  await quiet()
  assert.deepEqual((await network.recorded(url)).links, [first, first])
  assert.equal(visited.auctions.length, 1, 'one auction for all occurrences')
  await page.evaluate(() => history.pushState({}, '', '/another-article'))
  await quiet()
  const [before, now] = visited.auctions.map((query) => query.get('uuid'))
  assert.notEqual(now, before)
  assert.equal((await redirectOf(page, 'copy')).searchParams.get('uuid'), now)
})

test('makes the raw links of an article with a very long URL smart', async (t) => {
  const { page } = await visit(t, `raw-links.html?fbclid=${'x'.repeat(3000)}`)
  await redirectOf(page, 'one')
})

test('without the Navigation API, the changed article reveals the changed URL', async (t) => {
  const { page, quiet, url } = await visit(t, 'single-page.html', async (page) => {
    await page.addInitScript(() => Reflect.deleteProperty(window, 'navigation'))
  })
  await page.locator('#next').click()
  await quiet()
  const { pages, links } = await network.recorded(`${new URL(url).origin}/article-2`)
  assert.equal(pages, 1)
  assert.deepEqual(links, [second, third].sort())
})

test('a page that returns from the back/forward cache is a new page session', async (t) => {
  const { page, quiet, url } = await visit(t, 'smart-links.html', async (page) => {
    await page.addInitScript(() =>
      addEventListener('pageshow', ({ persisted }) =>
        Object.assign(window, { isPersisted: persisted }),
      ),
    )
  })
  web.publish('/search.html', `<a id="found" href="${url}">an article</a>`)
  const search = `${web.host('search')}/`
  await page.goto(`${search}search.html`)
  await page.locator('#found').click()
  await quiet()
  const before = await redirectOf(page, 'plain')
  await page.goto(kettles(1))
  await page.goBack({ waitUntil: 'commit' })
  await quiet()
  assert.equal(await page.evaluate(() => Reflect.get(window, 'isPersisted')), true)
  const now = await redirectOf(page, 'plain')
  assert.notEqual(now.searchParams.get('uuid'), before.searchParams.get('uuid'))
  const recorded = await network.recorded(url)
  assert.equal(recorded.pages, 3)
  assert.equal(recorded.sessions, 3)
  assert.equal(recorded.links.length, 24)
  assert.deepEqual(recorded.referrers, [null, search, search], 'reached as at first')
})

test('a prerendered page does nothing until a reader sees it', async (t) => {
  const { page, quiet, requests, url } = await visit(t, 'smart-links.html', async (page) => {
    await page.addInitScript(() =>
      Object.defineProperty(document, 'prerendering', { value: true, configurable: true }),
    )
  })
  assert.deepEqual(
    requests.filter((request) => request.includes('/api/')),
    [],
  )
  await page.evaluate(() => {
    Object.defineProperty(document, 'prerendering', { value: false })
    document.dispatchEvent(new Event('prerenderingchange'))
  })
  await quiet()
  assert.equal((await network.recorded(url)).pages, 1)
  await redirectOf(page, 'plain')
})

test('finds links added later, and runs no second auction for a known one', async (t) => {
  const { page, quiet, auctions: before, url } = await visit(t, 'late-links.html')
  assert.equal(before.length, 1)
  await page.locator('#more').click()
  await quiet()
  const hrefs = await page
    .locator('a')
    .evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).href))
  assert.equal(new Set(hrefs).size, 2)
  assert.ok(hrefs.every((href) => href.startsWith(`${service}/api/v1/redirect/`)))
  const { links } = await network.recorded(url)
  assert.deepEqual(links, [first, first, second].sort())
})

test('audit mode counts and changes nothing', async (t) => {
  const { page, auctions, requests, url } = await visit(t, 'audit.html')
  assert.deepEqual(auctions, [])
  assert.ok(!requests.some((request) => request.includes('/linkmate/')))
  const hrefs = await page
    .locator('a')
    .evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  assert.deepEqual(hrefs, [`${service}/${first}`, kettles(1)])
  const { pages, links } = await network.recorded(url)
  assert.equal(pages, 1)
  assert.deepEqual(links, [first])
})

test('obeys the settings of the page', async (t) => {
  const bodies: string[] = []
  const { page } = await visit(t, 'settings.html', async (page) => {
    page.on('request', (request) => {
      if (request.url().includes('/linkmate/')) bodies.push(request.postData() ?? '')
    })
  })
  const { links, unwrap_links } = JSON.parse(bodies[0] ?? '')
  assert.deepEqual(links, [{ raw_url: kettles(1), exclusive_match_requested: true }])
  assert.equal(unwrap_links, false)
  assert.equal((await redirectOf(page, 'in')).searchParams.get('u1'), 'front page')
  assert.equal((await redirectOf(page, 'own')).searchParams.get('u1'), 'own')
  assert.equal(await attribute(page, 'in', 'rel'), null)
  assert.equal(await attribute(page, 'out', 'href'), kettles(2))
})

test('a second copy of the tag on a page does nothing', async (t) => {
  const { page, quiet, url } = await visit(t, 'smart-links.html')
  await page.addScriptTag({ url: `${service}/tag/souk.js` })
  await page.evaluate(() => {
    const again = document.createElement('script')
    again.src = (document.querySelector('script[data-publisher]') as HTMLScriptElement).src
    again.dataset.publisher = 'daily'
    document.head.append(again)
  })
  await quiet()
  assert.equal((await network.recorded(url)).pages, 1)
})

test('adds one global and causes no layout shift', async (t) => {
  const { page } = await visit(t, 'smart-links.html', async (page) => {
    await page.addInitScript(() => {
      Object.assign(window, { before: new Set(Object.getOwnPropertyNames(window)), shifts: [] })
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) Reflect.get(window, 'shifts').push(entry.toJSON())
      }).observe({ type: 'layout-shift', buffered: true })
    })
  })
  const added = await page.evaluate(() => {
    const before = Reflect.get(window, 'before') as Set<string>
    return Object.getOwnPropertyNames(window).filter((name) => !before.has(name))
  })
  // The browser creates globals for elements with an id, but they are not own properties.
  assert.deepEqual(
    added.filter((name) => !['before', 'shifts'].includes(name)),
    ['souk'],
  )
  assert.deepEqual(await page.evaluate(() => Reflect.get(window, 'shifts')), [])
})

test('#souk-debug opens an overlay that says what the tag does with each link', async (t) => {
  const { page, errors } = await visit(t, 'smart-links.html#souk-debug')
  const overlay = page.getByRole('region', { name: 'Souk on this page' })
  await overlay.getByText('13 links: 7 auctioned, 0 waiting, 6 left alone').waitFor()
  const text = await overlay.innerText()
  assert.match(text, /The author wrote #donotlink\./)
  assert.match(text, /Thing 1 <of> kettles, \$49\.99, The kettles shop/)
  await overlay.getByRole('button', { name: 'Close' }).click()
  assert.equal(await overlay.count(), 0)
  assert.deepEqual(errors, [])
})
