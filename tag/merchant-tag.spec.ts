/**
 * The merchant tag on a shop's pages against the real service: landing, page view, checkout.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { EVENT_TYPE } from '../src/events/event.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { openPage } from './testing/browser.ts'
import { startNetwork } from './testing/network.ts'
import { startStandIn } from './testing/stand-in.ts'

const network = await startNetwork({ after })
const { web, app } = network
web.words.set('shopid', String(network.merchId))

type Test = Parameters<typeof openPage>[0]

const CLICK = 'a'.repeat(32)
const LATER_CLICK = 'b'.repeat(32)
const DAY_MS = 86_400_000

/** A separate shop below the merchant's domain, so that its orders differ from other tests'. */
async function openShop(t: Test, prepare?: (page: Page) => Promise<void>) {
  const watched = await openPage(t)
  const calls: { url: string; body: string }[] = []
  watched.page.on('request', (request) => {
    if (request.url().includes('/conversions/')) {
      calls.push({ url: request.url(), body: request.postData() ?? '' })
    }
  })
  await prepare?.(watched.page)
  const go = async (path: string) => {
    await watched.page.goto(`${web.host('kettles')}${path}`)
    await watched.quiet()
  }
  const checkouts = () => calls.filter(({ url }) => url.includes('/checkout/'))
  return { ...watched, calls, checkouts, go }
}

interface OrderBody {
  readonly order: { readonly id: string; readonly value: string; readonly click_ids: string[] }
  readonly products: readonly unknown[]
}

/** The orders of this id in the service's log. */
async function orders(id: string): Promise<OrderBody[]> {
  await app.untilFolded()
  const rows = await app.node.database.rows<{ body: string }>(sql`
    select body::text as body from event
    where type = ${EVENT_TYPE.order} and merch_id = ${network.merchId} order by seq`)
  return rows
    .map(({ body }) => JSON.parse(body))
    .filter((body) => JSON.stringify(body).includes(id))
}

const cookies = async (page: Page): Promise<string> => page.evaluate(() => document.cookie)

test('stores a landing’s click ids newest first and sends them with the order', async (t) => {
  const { page, go, checkouts, errors } = await openShop(t)
  await go(`/merchant-landing.html?cid=${CLICK}`)
  await go(`/merchant-landing.html?cid=${LATER_CLICK}`)
  await go('/merchant-landing.html')
  await go('/merchant-thanks.html')
  const body = JSON.parse(checkouts()[0]?.body ?? '')
  assert.equal(body.organization_type, 'merchant')
  assert.equal(body.organization_id, network.merchId)
  assert.equal(body.user.source_url, `${web.host('kettles')}/merchant-thanks.html`)
  assert.deepEqual(body.events, [
    {
      order: {
        id: 'R-1001',
        value: '99.98',
        currency: 'USD',
        click_ids: [LATER_CLICK, CLICK],
        is_new_customer: true,
      },
      products: [{ id: 'kettles-1', name: 'Thing 1', quantity: 2, price: '49.99' }],
    },
  ])
  assert.equal((await orders('R-1001')).length, 1)
  assert.match(await cookies(page), /souk_clicks=b{32}\.\w+~a{32}\.\w+/)
  assert.deepEqual(errors, [])
})

test('reports page views after a click; a landing names its click, a view never names its page', async (t) => {
  const { go } = await openShop(t)
  const [earlier, click] = ['d'.repeat(32), 'c'.repeat(32)]
  const views = () =>
    app.node.database.rows<Record<string, unknown>>(sql`
      select seq, body, url, referrer from event where type = ${EVENT_TYPE.shopView} order by seq`)
  await go(`/merchant-landing.html?cid=${earlier}`)
  await app.untilFolded()
  const before = await views()
  await go(`/merchant-landing.html?cid=${click}`)
  await go('/merchant-landing.html')
  await app.untilFolded()
  const site = { url: web.host('kettles'), referrer: null }
  assert.deepEqual(
    (await views()).slice(before.length).map(({ seq: _, ...view }) => view),
    [
      { body: { click_ids: [click], is_landing: true }, ...site },
      { body: { click_ids: [], is_landing: false }, ...site },
    ],
  )
})

test('never sends the query of a shop’s URL, which may identify the buyer', async (t) => {
  const { go, calls } = await openShop(t)
  await go(`/merchant-landing.html?cid=${CLICK}&visitor=joe`)
  await go('/merchant-thanks.html?email=jane%40mail.example#jane')
  const bodies = calls.map(({ body }) => body)
  assert.ok(bodies.length >= 3)
  for (const body of bodies) assert.doesNotMatch(body, /jane|joe/)
})

test('sends an order once, however often its page is loaded', async (t) => {
  const { page, go, quiet, checkouts } = await openShop(t)
  for (let visit = 0; visit < 3; visit++) await go('/merchant-thanks.html')
  assert.equal(checkouts().length, 1)
  await page.evaluate(() =>
    Reflect.get(window, 'souk')('checkout', { id: 'R-2', value: 1, currency: 'USD' }),
  )
  await quiet()
  await go('/merchant-thanks.html')
  assert.equal(checkouts().length, 2, 'nor after another order')
})

test('a reload of the landing page does not renew an old click', async (t) => {
  const { page, go } = await openShop(t)
  await go(`/merchant-landing.html?cid=${CLICK}`)
  const before = await cookies(page)
  await go(`/merchant-landing.html?cid=${LATER_CLICK}`)
  await page.waitForTimeout(1_100)
  await go(`/merchant-landing.html?cid=${CLICK}`)
  const now = await cookies(page)
  assert.ok(now.endsWith(before.replace('souk_clicks=', '')), `${before} is not the end of ${now}`)
})

test('forgets click ids after the merchant’s window', async (t) => {
  const { page, go, checkouts } = await openShop(t, async (page) => {
    await page.clock.install({ time: Date.now() - 40 * DAY_MS })
  })
  await go(`/merchant-landing.html?cid=${CLICK}`)
  await page.clock.setSystemTime(Date.now() - 2 * DAY_MS)
  await go(`/merchant-landing.html?cid=${LATER_CLICK}`)
  await go('/merchant-thanks.html')
  const { events } = JSON.parse(checkouts()[0]?.body ?? '')
  assert.deepEqual(events[0].order.click_ids, [LATER_CLICK])
})

test('a click is known on every host of its shop, and on no other', async (t) => {
  const { page, quiet, checkouts } = await openShop(t)
  const visit = async (host: string, path: string) => {
    await page.goto(`${web.host(host)}${path}`)
    await quiet()
  }
  await visit('www.kettles', `/merchant-landing.html?cid=${CLICK}`)
  await visit('pots', '/merchant-landing.html')
  assert.equal(await cookies(page), '')
  await visit('pay.kettles', '/merchant-thanks.html')
  assert.deepEqual(JSON.parse(checkouts()[0]?.body ?? '').events[0].order.click_ids, [CLICK])
})

test('keeps the newest twenty clicks of a visitor', async (t) => {
  const { page, go } = await openShop(t)
  await go('/merchant-landing.html')
  await page.evaluate(() => {
    const at = Math.floor(Date.now() / 1_000).toString(36)
    const ids = Array.from({ length: 20 }, (_, index) => String(index).padStart(32, '0'))
    // biome-ignore lint/suspicious/noDocumentCookie: as the tag writes it
    document.cookie = `souk_clicks=${ids.map((id) => `${id}.${at}`).join('~')};path=/;domain=${location.hostname}`
  })
  await go(`/merchant-landing.html?cid=${CLICK}`)
  const kept = (await cookies(page)).replace('souk_clicks=', '').split('~')
  const numbers = kept.map((entry) => entry.slice(0, 32))
  assert.deepEqual([numbers.length, numbers[0], Number(numbers.at(-1))], [20, CLICK, 18])
})

test('reads the click’s parameter, its window and test mode from the script element', async (t) => {
  const { page, go, calls, checkouts } = await openShop(t)
  const tag = '<script src="{service}/tag/souk-merchant.js" data-merchant="{shopid}"'
  web.publish(
    '/own.html',
    `<!doctype html>${tag} data-click-param="ref" data-window-days="1"></script>`,
  )
  web.publish('/trial.html', `<!doctype html>${tag} data-test></script>`)
  await go(`/own.html?cid=${CLICK}&ref=${LATER_CLICK}`)
  const [cookie] = await page.context().cookies()
  const { value = '', expires = 0 } = cookie ?? {}
  assert.ok(value.startsWith(`${LATER_CLICK}.`) && !value.includes('~'), value)
  assert.ok(Math.abs(expires - Date.now() / 1_000 - 86_400) < 600, 'forgotten after a day')
  const before = calls.length
  await go('/trial.html')
  await page.evaluate(() =>
    Reflect.get(window, 'souk')('checkout', { id: 'T-1', value: 1, currency: 'usd' }),
  )
  assert.match(await page.locator('#souk-test').innerText(), /"id": "T-1"/)
  assert.deepEqual([calls.length, checkouts()], [before, []])
})

test('stores nothing else of a landing URL', async (t) => {
  const { page, go, calls } = await openShop(t)
  for (const value of ['', 'x', 'A'.repeat(32), `${CLICK}0`, '<script>', `${CLICK};a=b`]) {
    await go(`/merchant-landing.html?cid=${encodeURIComponent(value)}`)
  }
  assert.equal(await cookies(page), '')
  assert.deepEqual(calls, [], 'reports nothing of visitors who did not come through us')
})

test('accepts calls made before and after the tag has loaded', async (t) => {
  const { page, go, quiet, checkouts } = await openShop(t)
  await go('/merchant-call.html')
  await page.locator('#buy').click()
  await page.locator('#buy').click()
  await quiet()
  const sent = checkouts().map(({ body }) => JSON.parse(body).events[0])
  assert.deepEqual(
    sent.map(({ order }) => `${order.id} ${order.value} ${order.currency}`),
    ['early 10.00 USD', 'late 20.00 USD'],
  )
  assert.deepEqual(sent[1].products, [{ id: 'a', price: '20.00', quantity: 1 }])
  assert.equal((await orders('late')).length, 1)
})

test('reports an order of a shop in two networks to both, once each', async (t) => {
  const other = await startStandIn(t, { article: '' })
  const { page, go, quiet, checkouts, errors } = await openShop(t)
  web.publish(
    '/two-networks.html',
    `<!doctype html>
     <script>SOUK_ORDER = { id: 'on the page', value: 1, currency: 'USD' }</script>
     <script src="{service}/tag/souk-merchant.js" data-merchant="{shopid}"></script>
     <script src="${other.origin}/tag/souk-merchant.js" data-merchant="7"></script>`,
  )
  for (let visit = 0; visit < 2; visit++) await go('/two-networks.html')
  await page.evaluate(() =>
    Reflect.get(window, 'souk')('checkout', { id: 'called', value: 1, currency: 'USD' }),
  )
  await quiet()
  const isOther = ({ url }: { url: string }) => url.startsWith(other.origin)
  const reports = (calls: { body: string }[]) =>
    calls.map(({ body }) => {
      const { organization_id, events } = JSON.parse(body)
      return [organization_id, events[0].order.id]
    })
  const [here, there] = [checkouts().filter((call) => !isOther(call)), checkouts().filter(isOther)]
  assert.deepEqual(reports(here), [
    [network.merchId, 'on the page'],
    [network.merchId, 'called'],
  ])
  assert.deepEqual(reports(there), [
    [7, 'on the page'],
    [7, 'called'],
  ])
  assert.deepEqual(errors, [])
})

test('beside the page tag, settings written into souk still reach it', async (t) => {
  const { page, requests, quiet, errors } = await openPage(t)
  const goods = [1, 2].map((at) => `${web.host('kettles')}/p/${at}`)
  const url = `${web.host('daily')}/both.html`
  const ids = await network.smartLinks(url, goods)
  web.publish(
    '/both.html',
    `<!doctype html><script>souk = { publisher: 'daily' }</script>
     <script src="{service}/tag/souk.js"></script>
     <script src="{service}/tag/souk-merchant.js" data-merchant="{shopid}"></script>
     <a href="{service}/${ids[0]}">a smart link</a>`,
  )
  await page.goto(url)
  await quiet()
  await page.evaluate((href) => {
    Reflect.set(Reflect.get(window, 'souk'), 'consent', 'contextual')
    document.body.append(Object.assign(document.createElement('a'), { href, textContent: 'more' }))
  }, `${network.service}/${ids[1]}`)
  await quiet()
  const consents = requests
    .filter((request) => request.includes('/api/v1/auction/'))
    .map((request) => new URL(request).searchParams.get('consent'))
  assert.deepEqual(consents, ['unknown', 'contextual'])
  assert.equal(await page.evaluate(() => typeof Reflect.get(window, 'souk')), 'function')
  assert.deepEqual(errors, [])
})

test('sends click ids that the shop itself names, in either spelling', async (t) => {
  const { page, go, quiet, checkouts } = await openShop(t)
  await go(`/merchant-landing.html?cid=${CLICK}`)
  const named = { cids: `${LATER_CLICK},${CLICK}` }
  for (const [id, more] of Object.entries({ kept: {}, cids: named, ids: { click_ids: [] } })) {
    await page.evaluate(
      (order) => Reflect.get(window, 'souk')('checkout', { order, products: [] }),
      { id, value: '1.00', currency: 'USD', ...more },
    )
  }
  await quiet()
  const sent = checkouts().map(({ body }) => JSON.parse(body).events[0].order.click_ids)
  assert.deepEqual(sent, [[CLICK], [LATER_CLICK, CLICK], []])
})

test('keeps an order when a shop’s templates leave fields empty or write them differently', async (t) => {
  const { page, go, quiet } = await openShop(t)
  await go('/merchant-landing.html')
  const order = { value: '1.00', currency: 'USD' }
  for (const input of [
    { order: { ...order, id: 'E-1' }, products: null },
    { order: { ...order, id: 'E-2', is_new_customer: 1 } },
    { order: { ...order, id: 'E-3', value: 99.995 }, products: [{ quantity: 1.5, price: 1 / 3 }] },
    { order: { ...order, id: 'E-4' }, products: [{ price: null, currency: '' }] },
  ]) {
    await page.evaluate((one) => Reflect.get(window, 'souk')('checkout', one), input)
  }
  await quiet()
  for (const id of ['E-1', 'E-2', 'E-3', 'E-4']) assert.equal((await orders(id)).length, 1, id)
})

test('delivers an undelivered order from the next page', async (t) => {
  const { page, go, quiet, checkouts, errors } = await openShop(t)
  await page.route('**/conversions/checkout/', (route) => route.abort())
  await page.goto(`${web.host('kettles')}/merchant-thanks.html`)
  await quiet()
  await page.unroute('**/conversions/checkout/')
  const tried = checkouts().length
  assert.ok(tried >= 1)
  await go('/merchant-landing.html')
  await quiet()
  assert.equal(checkouts().length, tried + 1)
  await go('/merchant-thanks.html')
  assert.equal(checkouts().length, tried + 1, 'delivered and known')
  assert.deepEqual(errors, [])
})

test('keeps an order in a browser without beacons', async (t) => {
  const { page, go, checkouts, errors } = await openShop(t, async (page) => {
    await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'sendBeacon'))
  })
  await go(`/merchant-landing.html?cid=${CLICK}`)
  assert.match(await cookies(page), new RegExp(CLICK))
  await go('/merchant-thanks.html')
  assert.equal(checkouts().length, 1)
  assert.deepEqual(errors, [])
})

test('test mode shows the message and sends nothing', async (t) => {
  const { page, go, calls } = await openShop(t)
  const panel = page.locator('#souk-test')
  await go('/merchant-landing.html#souk-test')
  assert.match(await panel.innerText(), /page view: not sent\s+"no click is stored/)
  await panel.locator('summary').click()
  assert.doesNotMatch(await panel.innerText(), /page view/, 'folded, it covers nothing')
  await go(`/merchant-landing.html?cid=${CLICK}&souk-test`)
  assert.match(await page.locator('#souk-test').innerText(), /page view\s[\s\S]*"is_landing": true/)
  await go('/merchant-thanks.html#souk-test')
  const shown = await page.locator('#souk-test').innerText()
  assert.match(shown, /Souk test mode: nothing is sent/)
  assert.match(shown, /"id": "R-1001"/)
  assert.match(shown, new RegExp(`"click_ids": \\[\\s*"${CLICK}"`))
  await page.evaluate(() => Reflect.get(window, 'souk')('checkout', { id: 'x', value: 1 }))
  assert.match(await page.locator('#souk-test').innerText(), /order\.currency is missing/)
  const products = [
    { id: 'a', price: '1.00' },
    { name: 'no id', price: '' },
  ]
  await page.evaluate((input) => Reflect.get(window, 'souk')('checkout', input), {
    id: 'y',
    value: 1,
    currency: 'usd',
    products,
  })
  const corrected = await page.locator('#souk-test').innerText()
  assert.match(corrected, /products\[1\]\.id: .* as no id[\s\S]*products\[1\]\.price: .* as 0\.00/)
  assert.doesNotMatch(corrected, /products\[0\]/)
  assert.deepEqual(calls, [])
})

test('does not disturb a shop whose page is broken or whose storage is forbidden', async (t) => {
  const { page, go, checkouts, errors } = await openShop(t, async (page) => {
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get: () => {
            throw new DOMException('no', 'SecurityError')
          },
        })
      }
    })
  })
  await go('/merchant-thanks.html')
  assert.equal(checkouts().length, 1)
  const before = checkouts().length
  for (const order of [null, 7, {}, { order: null }, { order: { id: 1 } }, { products: 3 }]) {
    await page.evaluate((input) => Reflect.get(window, 'souk')('checkout', input), order)
  }
  await page.evaluate(() => Reflect.get(window, 'souk')('no such command'))
  assert.equal(checkouts().length, before)
  assert.deepEqual(errors, [])
})
