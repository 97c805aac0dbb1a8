/** The pages of a demo shop: front page, product page, and thanks after an order. */

import { formatCents, MICROS_PER_CENT } from '../platform/money/money.ts'
import { type Html, html } from '../platform/text/html.ts'
import type { DemoMerchant, DemoOffer } from './network.ts'

export interface Shop {
  readonly merchant: DemoMerchant
  readonly merchId: number
  readonly hue: number
  readonly tagUrl: string
  readonly pictureOf: (gtin: string) => string
}

export const dollars = (cents: number): string => `$${formatCents(cents * MICROS_PER_CENT)}`

function style(hue: number): Html {
  return {
    html: `*{box-sizing:border-box}body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:#18181b;
background:#fff}header{background:hsl(${hue} 45% 24%);color:#fff;padding:1rem 1.25rem;display:flex;
gap:.75rem;align-items:baseline;flex-wrap:wrap}header a{color:#fff;text-decoration:none;
font-weight:700;font-size:1.25rem}header span{opacity:.8}main{max-width:62rem;margin:0 auto;
padding:1.5rem 1.25rem 4rem}.product{display:grid;gap:2rem;grid-template-columns:1fr}
@media(min-width:44rem){.product{grid-template-columns:1fr 1fr}}.product img{width:100%;height:auto;
border-radius:.5rem}h1{font-size:1.75rem;line-height:1.2;margin:0 0 .5rem}.price{font-size:1.6rem;
font-weight:700;margin:.5rem 0}button,.button{font:600 1.05rem system-ui,sans-serif;border:0;
border-radius:.4rem;padding:.9rem 1.4rem;background:hsl(${hue} 55% 28%);color:#fff;cursor:pointer;
text-decoration:none;display:inline-block}button:disabled{background:#a1a1aa;cursor:default}
.note{color:#52525b;font-size:.9rem}ul.goods{list-style:none;padding:0;display:grid;gap:1.25rem;
grid-template-columns:repeat(auto-fill,minmax(11rem,1fr))}ul.goods a{color:inherit;
text-decoration:none}ul.goods img{width:100%;height:auto;border-radius:.4rem}`,
  }
}

function page(shop: Shop, title: string, content: Html): string {
  const { merchant } = shop
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title} · ${merchant.name}</title><link rel="icon" href="data:,">
<style>${style(shop.hue)}</style>
<script async src="${shop.tagUrl}" data-merchant="${shop.merchId}"></script></head>
<body><header><a href="/">${merchant.name}</a><span>${merchant.claim}</span></header>
<main>${content}<p class="note">A shop of the Souk demo: nothing is sold or sent.</p></main></body></html>`
    .html
}

export function shopFront(shop: Shop, offers: readonly DemoOffer[]): string {
  const goods = offers.map(
    ({ product, sku, priceCents }) => html`<li><a href="/p/${sku}">
<img src="${shop.pictureOf(product.gtin)}" alt="" width="370" height="320" loading="lazy">
<div>${product.name}</div><strong>${dollars(priceCents)}</strong></a></li>`,
  )
  return page(
    shop,
    shop.merchant.claim,
    html`<h1>${shop.merchant.claim}</h1>
<ul class="goods">${goods}</ul>`,
  )
}

export function productPage(shop: Shop, offer: DemoOffer): string {
  const { product, sku, priceCents, isInStock } = offer
  return page(
    shop,
    product.name,
    html`<div class="product">
<img src="${shop.pictureOf(product.gtin)}" alt="${product.name}" width="370" height="320">
<div><h1>${product.name}</h1><p class="note">${product.brand} · ${sku} · GTIN ${product.gtin}</p>
<p class="price">${dollars(priceCents)}</p>
<p>${isInStock ? 'In stock, leaves today.' : 'Out of stock. Back in about two weeks.'}</p>
<form action="/buy" method="get"><input type="hidden" name="sku" value="${sku}">
<button ${{ html: isInStock ? '' : 'disabled' }}>Buy now</button></form></div></div>`,
  )
}

/** The page after an order: the merchant tag reads SOUK_ORDER and reports it. */
export function thanksPage(shop: Shop, offer: DemoOffer, orderId: string): string {
  const { product, sku, priceCents } = offer
  const price = formatCents(priceCents * MICROS_PER_CENT)
  const order = {
    order: { id: orderId, value: price, currency: 'USD' },
    products: [{ id: sku, name: product.name, brand: product.brand, quantity: 1, price }],
  }
  // "<" inside a name would end the script early.
  const json = { html: JSON.stringify(order).replaceAll('<', '\\u003c') }
  return page(
    shop,
    'Thank you',
    html`<script>window.SOUK_ORDER=${json}</script><h1>Thank you!</h1>
<p>Order <strong>${orderId}</strong>: ${product.name} for ${dollars(priceCents)}.</p>
<p><a class="button" href="/">Back to the shop</a></p>`,
  )
}
