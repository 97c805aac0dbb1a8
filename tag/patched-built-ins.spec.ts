/**
 * Pages whose scripts have replaced built-ins: the tags' messages stay the same
 * (docs/spec/links-and-tags.md#patched-built-ins).
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { until } from '../test/support/market.ts'
import { openPage } from './testing/browser.ts'
import { startStandIn } from './testing/stand-in.ts'

const CLICK = 'c'.repeat(32)
const LINK = '9007199254740993'

/** Scripts of a page, before the tags: what old libraries do, and worse. */
const PATCHES = {
  'toJSON of Prototype 1.6': `
    Array.prototype.toJSON = function () { return '[' + this.join(', ') + ']' }
    String.prototype.toJSON = function () { return '"' + this + '"' }
    Number.prototype.toJSON = function () { return '' + this }
    Date.prototype.toJSON = function () { return '"a date"' }
    Object.toJSON = function () { return '' }`,
  'a toJSON of every object': `Object.prototype.toJSON = function () { return 'patched' }`,
  'other members of every object and array': `
    Object.prototype.clone = function () { return this }
    Array.prototype.each = function () { throw new Error('each') }`,
  'a separate JSON.stringify': `JSON.stringify = function () { return '[object Object]' }`,
  'a JSON.stringify that throws': `JSON.stringify = function () { throw new Error('no') }`,
  'Array.from of MooTools and Prototype': `
    Array.from = function (item) { return item && item.toArray ? item.toArray() : [item] }`,
  'iterating functions of arrays': `
    for (const name of ['map', 'filter', 'find', 'some', 'every', 'forEach', 'flatMap', 'reduce'])
      Array.prototype[name] = function () { return [] }`,
  'iterating functions that throw': `
    for (const name of ['map', 'filter', 'find', 'some', 'every', 'forEach', 'flatMap', 'reduce'])
      Array.prototype[name] = function () { throw new Error(name) }`,
  'methods of elements': `
    for (const name of ['closest', 'matches', 'append', 'remove', 'replace', 'select'])
      Element.prototype[name] = function () { return [this] }`,
  'methods of elements that throw': `
    for (const name of ['closest', 'matches', 'append', 'remove', 'replace', 'select'])
      Element.prototype[name] = function () { throw new Error(name) }`,
  'variables named like built-ins': `var URL = 'https://shop.example/', Blob = 1, Element = {}`,
}

/** They wait most of the time. */
suite('pages with patched built-ins', { concurrency: 4 }, () => {
  for (const [name, patch] of Object.entries(PATCHES)) {
    test(`the page tag works on a page with ${name}`, async (t) => {
      const service = await startStandIn(t, {
        article: `<!doctype html><title>Ten "kettles" \u{1f375}</title><script>${patch}</script>
<p><a href="{link}/${LINK}">smart</a> <a href="https://shop.example/p/1">raw</a>
<span data-souk-ignore><a href="https://shop.example/kept">kept</a></span></p>
<script async src="/tag/souk.js" data-publisher="demo"></script>`,
      })
      const { page, errors } = await openPage(t)
      await page.goto(service.articleUrl)
      await until(() => service.calls.filter(({ call }) => call === 'pixel').length === 2)
      const content = await page.content()
      assert.equal(content.match(/href="[^"]*\/api\/v1\/redirect\//g)?.length, 2)
      assert.match(content, /href="https:\/\/shop\.example\/kept"/)
      const bodies = (call: string) =>
        service.calls.filter((seen) => seen.call === call).map(({ body }) => JSON.parse(body))
      const [{ article, links }] = bodies('linkmate')
      assert.equal(article.name, 'Ten "kettles" \u{1f375}')
      assert.deepEqual(links, [
        { raw_url: 'https://shop.example/p/1', exclusive_match_requested: false },
      ])
      await until(() => bodies('events').length >= 3)
      const [view, ...impressions] = bodies('events')
      assert.deepEqual(view.events, [{}])
      // Viewable impressions follow after a second.
      const fields = impressions.flatMap(({ events }) =>
        events.map((event: object) => Object.keys(event)),
      )
      assert.deepEqual(fields.slice(0, 2), [['auction_id'], ['auction_id']])
      assert.deepEqual(errors, [])
    })

    test(`the merchant tag reports an order on a page with ${name}`, async (t) => {
      const service = await startStandIn(t, {
        article: `<!doctype html><title>Thanks</title><script>${patch}</script><script>
window.SOUK_ORDER = {
  order: { id: 'R-1', value: '99.98', currency: 'USD', is_new_customer: true },
  products: [{ id: 'K-1', name: 'Kettle "big"', quantity: 2, price: '49.99', tags: ['a', 'b'] }],
}</script><script async src="/tag/souk-merchant.js" data-merchant="7"></script>`,
      })
      const { page, errors } = await openPage(t)
      await page.goto(`${service.articleUrl}?cid=${CLICK}`)
      const orders = () => service.calls.filter(({ url }) => url.includes('/checkout/'))
      await until(() => orders().length > 0)
      const { organization_type, organization_id, events } = JSON.parse(orders()[0]?.body ?? '')
      assert.deepEqual([organization_type, organization_id], ['merchant', 7])
      const [{ order, products }] = events
      assert.deepEqual(order, {
        ...{ id: 'R-1', value: '99.98', currency: 'USD', is_new_customer: true },
        click_ids: [CLICK],
      })
      const [product] = products
      assert.deepEqual(
        [product.id, product.name, product.quantity, product.price, product.tags],
        ['K-1', 'Kettle "big"', 2, '49.99', ['a', 'b']],
      )
      assert.deepEqual(errors, [])
    })
  }
})
