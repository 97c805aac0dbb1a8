/**
 * The snippets of the merchant tag, as tag/README.md has them; a test compares both.
 */

interface Shop {
  readonly service: string
  readonly merchId: number
  /** The query parameter that carries the click id. */
  readonly clickParam: string
  readonly windowDays: number
}

const DEFAULT_PARAM = 'cid'
const DEFAULT_DAYS = 30

const PAGE_HTML = `<script async src="https://souk.example/tag/souk-merchant.js" data-merchant="YOUR-MERCHANT-ID"></script>`

const ORDER_HTML = `<script>
  window.SOUK_ORDER = {
    order: { id: 'R-1001', value: '99.98', currency: 'USD', is_new_customer: true },
    products: [{ id: 'K-1', name: 'Kettle', quantity: 2, price: '49.99' }],
  }
</script>`

const PAGE_TAG_MANAGER = `<script>
  (function () {
    var tag = document.createElement('script')
    tag.async = true
    tag.src = 'https://souk.example/tag/souk-merchant.js'
    tag.setAttribute('data-merchant', 'YOUR-MERCHANT-ID')
    document.head.appendChild(tag)
  })()
</script>`

const ORDER_TAG_MANAGER = `<script>
  (function () {
    var events = window.dataLayer || []
    window.souk = window.souk || function () { (souk.q = souk.q || []).push(arguments) }
    for (var at = events.length - 1; at >= 0; at--) {
      var bought = events[at].event === 'purchase' && events[at].ecommerce
      if (!bought) continue
      souk('checkout', {
        order: {
          id: bought.transaction_id,
          value: bought.value,
          currency: bought.currency
        },
        products: (bought.items || []).map(function (item) {
          return {
            id: item.item_id,
            name: item.item_name,
            brand: item.item_brand,
            quantity: item.quantity,
            price: item.price
          }
        })
      })
      break
    }
  })()
</script>`

const SHOPIFY = `const SERVICE = 'https://souk.example'
const MERCHANT_ID = YOUR-MERCHANT-ID
const WINDOW_DAYS = 30

const readClicks = async () =>
  ((await browser.cookie.get('souk_pixel')) || '').split('~').filter((id) => /^[0-9a-f]{32}$/.test(id))

analytics.subscribe('page_viewed', async (event) => {
  const id = new URLSearchParams(event.context.document.location.search).get('cid') || ''
  const kept = await readClicks()
  if (!/^[0-9a-f]{32}$/.test(id) || kept.includes(id)) return
  const value = [id, ...kept].slice(0, 20).join('~')
  await browser.cookie.set(\`souk_pixel=\${value};path=/;max-age=\${WINDOW_DAYS * 86400};samesite=lax\`)
})

analytics.subscribe('checkout_completed', async (event) => {
  const { checkout } = event.data
  const page = event.context.document
  const money = { style: 'currency', currency: checkout.currencyCode }
  const { maximumFractionDigits } = new Intl.NumberFormat('en', money).resolvedOptions()
  await fetch(\`\${SERVICE}/api/v1/events/conversions/checkout/\`, {
    method: 'POST',
    keepalive: true,
    body: JSON.stringify({
      organization_type: 'merchant',
      organization_id: MERCHANT_ID,
      user: { source_url: page.location.href.split('?')[0] },
      events: [
        {
          order: {
            id: String(checkout.order.id),
            value: String(checkout.subtotalPrice.amount),
            currency: checkout.currencyCode,
            click_ids: await readClicks(),
            is_new_customer: checkout.order.customer?.isFirstOrder ?? null,
          },
          products: checkout.lineItems.map(({ quantity, title, finalLinePrice, variant }) => ({
            id: String(variant.sku || variant.id),
            name: title.slice(0, 255),
            quantity,
            price: (finalLinePrice.amount / quantity).toFixed(maximumFractionDigits),
          })),
        },
      ],
    }),
  })
})`

export const SNIPPETS = {
  'merchant-html': PAGE_HTML,
  'merchant-order': ORDER_HTML,
  'merchant-gtm': PAGE_TAG_MANAGER,
  'merchant-gtm-purchase': ORDER_TAG_MANAGER,
  shopify: SHOPIFY,
} as const
export type SnippetName = keyof typeof SNIPPETS

/** A snippet with the shop's own id and settings, ready to paste. */
export function snippetFor(name: SnippetName, shop: Shop): string {
  const { service, merchId, clickParam, windowDays } = shop
  const filled = SNIPPETS[name]
    .replaceAll('https://souk.example', service)
    .replaceAll('YOUR-MERCHANT-ID', String(merchId))
  const settings = [
    ...(clickParam === DEFAULT_PARAM ? [] : [['data-click-param', clickParam] as const]),
    ...(windowDays === DEFAULT_DAYS ? [] : [['data-window-days', String(windowDays)] as const]),
  ]
  switch (name) {
    case 'merchant-html':
      return filled.replace(
        '></script>',
        () => `${settings.map(([key, value]) => ` ${key}="${value}"`).join('')}></script>`,
      )
    case 'merchant-gtm':
      return filled.replace(
        '    document.head',
        () =>
          `${settings.map(([key, value]) => `    tag.setAttribute('${key}', '${value}')\n`).join('')}    document.head`,
      )
    case 'shopify':
      return filled
        .replace("get('cid')", () => `get('${clickParam}')`)
        .replace('WINDOW_DAYS = 30', () => `WINDOW_DAYS = ${windowDays}`)
    default:
      return filled
  }
}
