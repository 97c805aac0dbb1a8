/** The demo merchants' feed files, each in another format, as real merchants send them. */
import { html } from '../platform/text/html.ts'
import { type DemoMerchant, type DemoOffer, offersOf } from './network.ts'
import { taxonomyOf } from './products.ts'
import { dollars } from './shop-page.ts'

/** The text of a merchant's feed; `siteOf` gives the URLs of the shop and the pictures. */
export function feedText(
  merchant: DemoMerchant,
  siteOf: { shop: (slug: string) => string; picture: (gtin: string) => string },
  offers: readonly DemoOffer[] = offersOf(merchant),
): string {
  const rows = offers.map((offer) => fields(offer, siteOf))
  if (merchant.slug === 'cornerstone') rows.push(...faultyRows(rows))
  switch (merchant.feed) {
    case 'csv':
      return separated(rows, ',')
    case 'tsv':
      return separated(rows, '\t')
    case 'jsonl':
      return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    case 'xml':
      return rss(merchant, rows)
  }
}

type Row = Record<string, string>

/** One shop's feed has the mistakes that real feeds have, so its imports show rejected rows. */
function faultyRows([row]: readonly Row[]): Row[] {
  if (row === undefined) return []
  const faulty = (id: string, changes: Row): Row => ({ ...row, id: `${row.id}-${id}`, ...changes })
  return [
    faulty('noprice', { price: '' }),
    faulty('free', { price: '0.00 USD' }),
    faulty('elsewhere', { link: 'https://marketplace.example/p/4711' }),
    faulty('nolink', { link: '' }),
  ]
}

function fields(
  { merchant, product, sku, priceCents, isInStock }: DemoOffer,
  siteOf: { shop: (slug: string) => string; picture: (gtin: string) => string },
): Row {
  return {
    id: sku,
    title: product.name,
    link: `${siteOf.shop(merchant.slug)}/p/${sku}?utm_source=feed`,
    image_link: siteOf.picture(product.gtin),
    price: `${dollars(priceCents).slice(1)} USD`,
    availability: isInStock ? 'in stock' : 'out of stock',
    gtin: product.gtin,
    brand: product.brand,
    google_product_category: taxonomyOf(product),
  }
}

function separated(rows: readonly Row[], separator: string): string {
  const quote = (text: string) => (/[",\t\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const lines = rows.map((row) => Object.values(row).map(quote).join(separator))
  return [Object.keys(rows[0] ?? {}).join(separator), ...lines, ''].join('\n')
}

function rss(merchant: DemoMerchant, rows: readonly Row[]): string {
  const items = rows.map((row) => {
    const elements = Object.entries(row).map(([name, value]) => {
      const tag = ['title', 'link'].includes(name) ? name : `g:${name}`
      return html`${{ html: `<${tag}>` }}${value}${{ html: `</${tag}>` }}`
    })
    return html`<item>${elements}</item>\n`
  })
  return html`<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>${merchant.name}</title>
${items}</channel></rss>`.html
}
