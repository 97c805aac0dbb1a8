/** The snippets of tag/README.md, pasted as their readers do, against the real service. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { build } from 'esbuild'
import { EVENT_TYPE } from '../src/events/event.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { openPage } from './testing/browser.ts'
import { startNetwork } from './testing/network.ts'

const network = await startNetwork({ after })
const { web, service, app } = network
const README = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const [first = ''] = await network.smartLinks(`${web.host('daily')}/a`, [
  `${web.host('kettles')}/p/1`,
])
const LINK = `<a id="link" href="${service}/${first}">a link</a>`
const CLICK = 'd'.repeat(32)

/** The code block that follows `<!-- snippet: name -->`, with the reader's own values inserted. */
function snippet(name: string): string {
  const code = new RegExp(`<!-- snippet: ${name} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(
    README,
  )?.[1]
  assert.ok(code, `the README has the snippet ${name}`)
  return code
    .replaceAll('https://souk.example', service)
    .replaceAll('YOUR-SLUG', 'daily')
    .replaceAll('YOUR-MERCHANT-ID', String(network.merchId))
}

let pages = 0
/** Publishes a page and opens it; resolves when the page is idle. */
async function show(t: Parameters<typeof openPage>[0], html: string, host = 'daily', query = '') {
  const path = `/pasted-${++pages}`
  web.publish(path, `<!doctype html><title>Pasted</title><body>${html}</body>`)
  const watched = await openPage(t)
  await watched.page.goto(web.host(host) + path + query)
  await watched.quiet()
  assert.deepEqual(watched.errors, [])
  return { ...watched, url: web.host(host) + path }
}

for (const name of ['html', 'tag-manager']) {
  test(`the snippet "${name}" makes a page’s links work`, async (t) => {
    const { page, url } = await show(t, LINK + snippet(name))
    const href = (await page.locator('#link').getAttribute('href')) ?? ''
    assert.ok(href.startsWith(`${service}/api/v1/redirect/`), href)
    assert.equal((await network.recorded(url)).pages, 1)
  })
}

test('the snippet "react" makes an application’s links work, once', async (t) => {
  const application = `${snippet('react')}
    import { StrictMode } from 'react'
    import { createRoot } from 'react-dom/client'
    createRoot(document.getElementById('root')).render(
      <StrictMode><SoukTag /><SoukTag /><a id="link" href="${service}/${first}">a link</a></StrictMode>
    )`
  const bundled = await build({
    stdin: { contents: application, loader: 'jsx', resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'error',
  })
  const code = bundled.outputFiles[0]?.text.replaceAll('</script', '<\\/script') ?? ''
  const { page, url } = await show(t, `<div id="root"></div><script>${code}</script>`)
  const href = (await page.locator('#link').getAttribute('href')) ?? ''
  assert.ok(href.startsWith(`${service}/api/v1/redirect/`), href)
  assert.equal((await network.recorded(url)).pages, 1)
})

interface OrderBody {
  readonly order_id: string
}

/** The bodies of the logged orders that mention this text, as stored. */
async function ordersWith(text: string): Promise<OrderBody[]> {
  await app.untilFolded()
  const rows = await app.node.database.rows<{ body: string }>(sql`
    select body::text as body from event
    where type = ${EVENT_TYPE.order} and body::text like ${`%${text}%`}`)
  return rows.map(({ body }) => JSON.parse(body) as OrderBody)
}

test('the snippets "merchant-html" and "merchant-order" report an order with its click', async (t) => {
  const html = snippet('merchant-order') + snippet('merchant-html')
  await show(t, html, 'kettles', `?cid=${CLICK}`)
  const [order, ...more] = await ordersWith('R-1001')
  assert.deepEqual(more, [])
  assert.ok(JSON.stringify(order).includes(CLICK), JSON.stringify(order))
})

test('the snippet "merchant-call" reports an order made before the tag has loaded', async (t) => {
  await show(t, snippet('merchant-call') + snippet('merchant-html'), 'kettles')
  assert.equal((await ordersWith('R-1002')).length, 1)
})

test('the snippets "merchant-gtm" and "merchant-gtm-purchase" report the data layer’s purchase', async (t) => {
  const layer = `<script>
    window.dataLayer = [{ event: 'page' }, { event: 'purchase', ecommerce: {
      transaction_id: 'G-77', value: 100, currency: 'USD',
      items: [{ item_id: 'K-1', item_name: 'Kettle', item_brand: 'O',
        quantity: 3, price: 33.333333, discount: 4.75 }],
    } }, { event: 'later' }]</script>`
  const html = layer + snippet('merchant-gtm') + snippet('merchant-gtm-purchase')
  const bodies: string[] = []
  const { page, quiet } = await show(t, '', 'kettles')
  page.on('request', (request) => {
    if (request.url().includes('/checkout/')) bodies.push(request.postData() ?? '')
  })
  web.publish('/bought', `<!doctype html><title>Bought</title>${html}`)
  await page.goto(`${web.host('kettles')}/bought`)
  await quiet()
  assert.equal((await ordersWith('G-77')).length, 1)
  const { order, products } = JSON.parse(bodies[0] ?? '').events[0]
  assert.deepEqual([order.id, order.value, order.currency], ['G-77', '100.00', 'USD'])
  assert.deepEqual(products, [
    { id: 'K-1', name: 'Kettle', brand: 'O', quantity: 3, price: '33.33' },
  ])
})

test('the snippet "shopify" keeps a landing’s click and reports the checkout', async (t) => {
  // The parts of Shopify's sandbox that the snippet uses, as its documentation describes them.
  const sandbox = `<script>
    const listeners = {}
    const analytics = { subscribe: (name, listener) => { listeners[name] = listener } }
    const jar = new Map()
    const browser = { cookie: {
      get: async (name) => jar.get(name) ?? '',
      set: async (text) => { const [, name, value] = /^([^=]+)=([^;]*)/.exec(text); jar.set(name, value) },
    } }
    const context = (search) => ({ document: {
      referrer: '', location: { search, href: '${web.host('kettles')}/shopify' + search } } })
  </script>`
  const { page } = await show(t, `${sandbox}<script>${snippet('shopify')}</script>`, 'kettles')
  await page.evaluate(
    async ([click]) => {
      // biome-ignore lint/security/noGlobalEval: names of classic scripts are no properties
      const inPage = globalThis.eval as (code: string) => Promise<unknown>
      await inPage(`listeners.page_viewed({ context: context('?cid=${click}') })`)
      await inPage(`listeners.page_viewed({ context: context('?cid=nonsense') })`)
      for (const [id, currency, amount] of [
        ['S-9', 'USD', 90],
        ['S-10', 'JPY', 101],
      ]) {
        await inPage(`listeners.checkout_completed({ context: context(''), data: { checkout: {
          order: { id: '${id}', customer: { isFirstOrder: true } }, currencyCode: '${currency}',
          subtotalPrice: { amount: ${amount} },
          lineItems: [{ title: 'Kettle', quantity: 2, finalLinePrice: { amount: ${amount} },
            variant: { id: '1', sku: 'K-1' } }] } } })`)
      }
    },
    [CLICK],
  )
  for (const [id, price] of [
    ['S-9', '45.00'],
    ['S-10', '51'], // A yen has no decimals: a price of 50.50 would lose the order.
  ] as const) {
    const [order] = await ordersWith(id)
    assert.ok(JSON.stringify(order).includes(CLICK), 'the order arrived')
    assert.ok(JSON.stringify(order).includes(`"price":"${price}"`))
  }
})
