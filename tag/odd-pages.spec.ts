/** The tags on pages with unusual scripts, texts and settings. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage } from './testing/browser.ts'
import { startVisits } from './testing/visit.ts'

const { network, visit, redirectOf } = await startVisits({ after })
const { web, service } = network
const shop = web.host('kettles')
const CLICK = 'a'.repeat(32)

/** A page of the shop, with the click ids and responses of the orders that it sends. */
async function openShop(t: Parameters<typeof openPage>[0]) {
  const watched = await openPage(t)
  const orders: { ids: string[]; status: number }[] = []
  watched.page.on('response', (answer) => {
    if (!answer.url().endsWith('/checkout/')) return
    const { events } = JSON.parse(answer.request().postData() ?? '')
    orders.push({ ids: events[0].order.click_ids, status: answer.status() })
  })
  const go = async (path: string) => {
    await watched.page.goto(shop + path)
    await watched.quiet()
    assert.deepEqual(watched.errors, [])
  }
  return { ...watched, orders, go }
}

let articles = 0

/** An article with a smart link, a raw one, and extra elements. */
async function visitArticle(
  t: Parameters<typeof visit>[0],
  rest: string,
  query = '',
  prepare?: Parameters<typeof visit>[2],
) {
  const name = `article-${'x'.repeat(++articles)}.html`
  web.publish(
    `/${name}`,
    `<!doctype html><title>An article</title>${rest}
<script async src="{service}/tag/souk.js${query}" data-publisher="daily"></script>
<a id="smart" href="{service}/{smart 1}">smart</a> <a id="raw" href="{kettles}/p/2">raw</a>`,
  )
  return visit(t, name, prepare)
}

async function bothEarn(page: Page): Promise<void> {
  await redirectOf(page, 'smart')
  await redirectOf(page, 'raw')
}

test('without cookies an order has the click of its own page', async (t) => {
  const { page, orders, go } = await openShop(t)
  await page.addInitScript(() => {
    Object.defineProperty(document, 'cookie', { get: () => '', set: () => undefined })
  })
  await go(`/merchant-thanks.html?cid=${CLICK}`)
  assert.deepEqual(orders, [{ ids: [CLICK], status: 201 }])
})

test('tries no cookie at a top-level domain, because Firefox would log a warning', async (t) => {
  const { page, go } = await openShop(t)
  await page.addInitScript(() => {
    const own = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie')
    const asked: string[] = []
    Object.defineProperty(document, 'cookie', {
      ...own,
      set(cookie: string) {
        asked.push(/domain=([^;]*)/.exec(cookie)?.[1] ?? '')
        own?.set?.call(this, cookie)
      },
    })
    Object.assign(window, { asked })
  })
  await go(`/merchant-landing.html?cid=${CLICK}`)
  assert.deepEqual(await page.evaluate('asked'), ['kettles.localhost'])
})

test('a sandboxed frame without access to cookies sends its order', async (t) => {
  const { orders, go } = await openShop(t)
  web.publish(
    '/framed.html',
    `<!doctype html><iframe sandbox="allow-scripts" src="/merchant-thanks.html?cid=${CLICK}">`,
  )
  await go('/framed.html')
  assert.deepEqual(orders, [{ ids: [CLICK], status: 201 }])
})

test('ignores a setting that a template leaves empty', async (t) => {
  const { page, go } = await openShop(t)
  web.publish(
    '/empty.html',
    `<!doctype html><script src="{service}/tag/souk-merchant.js" data-merchant="{shopid}"
       data-click-param="" data-window-days=""></script>`,
  )
  await go(`/empty.html?cid=${CLICK}`)
  const [cookie] = await page.context().cookies()
  const { value = '', expires = 0 } = cookie ?? {}
  assert.ok(value.startsWith(`${CLICK}.`), value)
  assert.ok(Math.abs(expires - Date.now() / 1_000 - 30 * 86_400) < 600)
})

test('keeps the click of a shop that cleans its URL before the tag has loaded', async (t) => {
  const { page, go } = await openShop(t)
  web.publish(
    '/tidy.html',
    `<!doctype html><script>history.replaceState(null, '', '/p/1')</script>
<script async src="{service}/tag/souk-merchant.js" data-merchant="{shopid}"></script>`,
  )
  const views: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/page_view/')) views.push(request.postData() ?? '')
  })
  await go(`/tidy.html?cid=${CLICK}#top`)
  assert.equal(page.url(), `${shop}/p/1`)
  assert.match(await page.evaluate(() => document.cookie), new RegExp(`souk_clicks=${CLICK}`))
  const [view] = views.map((body) => JSON.parse(body))
  assert.deepEqual(view?.events, [{ click_ids: [CLICK], is_landing: true }])
})

test('the merchant tag ignores an image named currentScript', async (t) => {
  const { requests, go } = await openShop(t)
  web.publish(
    '/shadowed.html',
    `<!doctype html><img name="currentScript" data-merchant="7" src="{trackers}/tag/x.png">
<script>SOUK_ORDER = { order: { id: 'R-1', value: 1, currency: 'USD' } }</script>
<script src="{service}/tag/souk-merchant.js" data-merchant="{shopid}"></script>`,
  )
  await go('/shadowed.html')
  const sent = requests.filter((request) => request.includes('/checkout/'))
  assert.deepEqual(sent, [`${service}/api/v1/events/conversions/checkout/`])
})

test('the page tag ignores an image named currentScript', async (t) => {
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

test('menus named navigation are not mistaken for the API that a browser lacks', async (t) => {
  const menus = '<nav id="navigation"></nav><nav id="navigation"></nav>'
  const { page } = await visitArticle(t, menus, '', async (page) => {
    await page.addInitScript(() => Reflect.deleteProperty(window, 'navigation'))
  })
  await bothEarn(page)
})

test('links earn on a page whose Promise comes from a library without `allSettled`', async (t) => {
  const { page } = await visitArticle(t, '<script>delete Promise.allSettled</script>')
  await bothEarn(page)
})

for (const [name, souk] of Object.entries({
  'is frozen': '<script>souk = Object.freeze({ u1: "first" })</script>',
  'has only getters': '<script>souk = { get u1() { return "first" } }</script>',
  'is two elements': '<p id="souk"></p><p id="souk"></p>',
  'is a text': '<script>souk = "daily"</script>',
})) {
  test(`where the page’s souk ${name}, links earn, also in the next article`, async (t) => {
    const { page, quiet, errors } = await visitArticle(t, souk)
    await bothEarn(page)
    const u1 = (await redirectOf(page, 'raw')).searchParams.get('u1')
    assert.equal(u1, souk.includes('first') ? 'first' : null)
    await page.evaluate(() => {
      Object.assign(window, { souk: Object.freeze({ u1: 'second' }) })
      history.pushState({}, '', '/second')
    })
    await quiet()
    assert.equal((await redirectOf(page, 'raw')).searchParams.get('u1'), 'second')
    assert.deepEqual(errors, [])
  })
}

test('a page that returns to an earlier article’s settings gets those', async (t) => {
  const { page, quiet } = await visitArticle(t, '<script>souk = first = { u1: "first" }</script>')
  const u1After = async (path: string, souk: string) => {
    await page.evaluate(`souk = ${souk}; history.pushState({}, '', '${path}')`)
    await quiet()
    return (await redirectOf(page, 'raw')).searchParams.get('u1')
  }
  assert.equal(await u1After('/second', '{ u1: "second" }'), 'second')
  assert.equal(await u1After('/first', 'first'), 'first')
})

test('links earn on a page with variables named URL and Blob', async (t) => {
  const script = '<script>var URL = "https://daily.example/"; class Blob {}</script>'
  const { page } = await visitArticle(t, script)
  await bothEarn(page)
})

test('raw links earn on a page with a form named title', async (t) => {
  const { page } = await visitArticle(t, '<form name="title"></form>')
  await bothEarn(page)
})

test('a tag’s own name locates the service, whatever query its URL has', async (t) => {
  const { page } = await visitArticle(t, '', '?v=2026/11/28#/tag/x')
  await bothEarn(page)
  const { orders, go } = await openShop(t)
  web.publish(
    '/dated.html',
    `<!doctype html><script>SOUK_ORDER = { order: { id: 'R-7', value: 1, currency: 'USD' } }</script>
<script src="{service}/tag/souk-merchant.js?v=2026/11/28" data-merchant="{shopid}"></script>`,
  )
  await go(`/dated.html?cid=${CLICK}`)
  assert.deepEqual(orders, [{ ids: [CLICK], status: 201 }])
})

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
