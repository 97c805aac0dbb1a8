/** The merchant tag where its cookie is refused, or its settings are left empty. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPage } from './testing/browser.ts'
import { startNetwork } from './testing/network.ts'

const { web, merchId } = await startNetwork({ after })
web.words.set('shopid', String(merchId))
const shop = web.host('kettles')
const CLICK = 'a'.repeat(32)

/** A page of the shop, and the click ids and answers of the orders that it sends. */
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

test('without cookies an order has the click of its own page', async (t) => {
  const { page, orders, go } = await openShop(t)
  await page.addInitScript(() => {
    Object.defineProperty(document, 'cookie', { get: () => '', set: () => undefined })
  })
  await go(`/merchant-thanks.html?cid=${CLICK}`)
  assert.deepEqual(orders, [{ ids: [CLICK], status: 201 }])
})

test('no cookie is asked for at a top-level domain, of which Firefox complains', async (t) => {
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

test('a sandboxed frame, which may not ask for cookies, sends its order', async (t) => {
  const { orders, go } = await openShop(t)
  web.publish(
    '/framed.html',
    `<!doctype html><iframe sandbox="allow-scripts" src="/merchant-thanks.html?cid=${CLICK}">`,
  )
  await go('/framed.html')
  assert.deepEqual(orders, [{ ids: [CLICK], status: 201 }])
})

test('a setting that a template leaves empty is as if it were not there', async (t) => {
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
