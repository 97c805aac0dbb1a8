import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import { micros } from '../../platform/money/money.ts'
import { checkOffer, type OfferContent, onlyDollars, type ToDollars } from './check-offer.ts'
import type { FeedFields } from './feed-columns.ts'

const GOOD: FeedFields = {
  id: 'A-1',
  title: 'Black tea',
  link: 'https://www.shop.example/p/1?utm_source=feed',
  imageLink: 'https://cdn.example/1.jpg',
  price: '4.20 USD',
  salePrice: '',
  salePriceDates: '',
  saleStart: '',
  saleEnd: '',
  currency: '',
  availability: 'in stock',
  forSale: '',
  preOrder: '',
  brand: 'Alder',
  gtin: '3017620422003',
  mpn: 'M-1',
  category: '422',
  description: 'Leaves from &lt;Assam&gt;,\n picked by hand',
  color: 'Black',
  size: '',
  itemGroupId: 'G 1',
}

const AT = Date.parse('2026-06-15T12:00:00Z')

function judge(fields: Partial<FeedFields>, currency = 'USD', toDollars = onlyDollars) {
  const said = { currency, isCurrencyAssumed: false, toDollars }
  const context = { domains: ['shop.example'], atMs: AT, ...said }
  return checkOffer({ ...GOOD, ...fields }, context)
}

function offer(fields: Partial<FeedFields>): OfferContent {
  const judgement = judge(fields)
  assert.equal(judgement.kind, 'offer')
  return judgement.kind === 'offer' ? judgement.offer : assert.fail()
}

function reason(fields: Partial<FeedFields>, currency = 'USD'): string {
  const judgement = judge(fields, currency)
  return judgement.kind === 'rejected' ? judgement.reason : 'accepted'
}

function notes(fields: Partial<FeedFields>): readonly string[] {
  const judgement = judge(fields)
  return judgement.kind === 'offer' ? judgement.notes.map(({ note }) => note) : assert.fail()
}

test('a good row becomes an offer with every column', () => {
  const { urlKeyHex, ...rest } = offer({})
  assert.match(urlKeyHex, /^[0-9a-f]{32}$/)
  assert.deepEqual(rest, {
    sku: 'A-1',
    gtin14: '03017620422003',
    gtinText: '3017620422003',
    title: 'Black tea',
    brand: 'Alder',
    mpn: 'M-1',
    url: 'https://www.shop.example/p/1?utm_source=feed',
    imageUrl: 'https://cdn.example/1.jpg',
    priceMicros: 4_200_000,
    regularPriceMicros: null,
    isInStock: true,
    categoryId: 422,
    description: 'Leaves from <Assam>, picked by hand',
    color: 'Black',
    size: null,
    itemGroupId: 'G 1',
  })
  assert.deepEqual(notes({}), [])
})

test('each fault of a row has its own reason', () => {
  const cases: [Partial<FeedFields>, string][] = [
    [{ id: ' ' }, 'id_missing'],
    [{ id: 'x'.repeat(256) }, 'id_too_long'],
    [{ title: '&nbsp;' }, 'title_missing'],
    [{ link: '' }, 'link_missing'],
    [{ link: '/p/1' }, 'link_invalid'],
    [{ link: 'javascript:alert(1)' }, 'link_invalid'],
    [{ link: `https://shop.example/${'x'.repeat(2048)}` }, 'link_too_long'],
    [{ link: 'https://shop.example.evil.example/' }, 'link_foreign_host'],
    [{ link: 'https://evilshop.example/' }, 'link_foreign_host'],
    [{ price: '' }, 'price_missing'],
    [{ price: 'free' }, 'price_unparsable'],
    [{ price: '-1 USD' }, 'price_negative'],
    [{ price: '0 USD' }, 'price_zero'],
    [{ price: '0.0000001 USD' }, 'price_zero'],
    [{ price: '1 XYZ' }, 'currency_unknown'],
    [{ price: '1 EUR' }, 'currency_other'],
    [{ price: '1', currency: 'eur' }, 'currency_other'],
    [{ price: '1', currency: '€' }, 'currency_other'],
    [{ price: '1', currency: 'руб.' }, 'currency_other'],
    [{ price: '1', currency: 'XYZ' }, 'currency_unknown'],
    [{ price: '1', currency: 'kr' }, 'currency_unknown'],
    [{}, 'accepted'],
    [{ price: '1', currency: '$' }, 'accepted'],
    [{ price: '1 USD', currency: 'XYZ' }, 'accepted'],
    [{ price: '1', currency: 'usd' }, 'accepted'],
    [{ link: 'HTTPS://A.B.SHOP.EXAMPLE:8443/' }, 'accepted'],
  ]
  for (const [fields, expected] of cases)
    assert.equal(reason(fields), expected, JSON.stringify(fields))
  assert.equal(reason({ price: '4.20' }, 'EUR'), 'currency_other', 'the currency of the feed')
})

test('a rejection names the value and the fix', () => {
  const detail = (fields: Partial<FeedFields>) => {
    const judgement = judge(fields)
    return judgement.kind === 'rejected' ? judgement.detail : 'accepted'
  }
  const cases: [Partial<FeedFields>, RegExp][] = [
    [{ price: '' }, /^the price is empty$/],
    [{ price: '1.299 EUR' }, /"1.299 EUR"; it may be .*; write one amount, such as "1299.00 EUR"/],
    [{ price: '10 - 20' }, /"10 - 20"; it is a range, not one price; write one amount/],
    [{ price: '10 DEM' }, /"10 DEM", which is not a currency in use; write a code such as EUR/],
    [{ price: '10', currency: 'DEM' }, /the currency is "DEM", .* write a code such as EUR/],
    [{ price: '0' }, /"0"; it must be above zero/],
    [{ link: '/p/1' }, /the link is "\/p\/1"; it must be an absolute http or https URL/],
    [{ link: 'https://x.example/' }, /"x.example", which is none of the merchant's domains/],
  ]
  for (const [fields, expected] of cases) assert.match(detail(fields), expected)
})

test('a link fits the limits of addresses in the form that its wrapper and redirect carry', () => {
  const link = (umlauts: number) => `https://shop.example/${'ü'.repeat(umlauts)}`
  // Six bytes each, percent-encoded, and 21 before them.
  assert.equal(offer({ link: link(337) }).url.length, 2043)
  assert.equal(reason({ link: link(338) }), 'link_too_long')
})

test('another currency is converted where its rate is known, the sale price with it', () => {
  const toDollars: ToDollars = (amount, currency) =>
    currency === 'EUR' ? micros(Number(amount) * 1_200_000) : onlyDollars(amount, currency)
  const judged = judge({ price: '10.00', salePrice: '8,50 €' }, 'EUR', toDollars)
  assert.ok(judged.kind === 'offer')
  assert.deepEqual(
    [
      judged.offer.priceMicros,
      judged.offer.regularPriceMicros,
      judged.notes.map(({ note }) => note),
    ],
    [10_200_000, 12_000_000, ['price_converted']],
  )
  // A sale price in another currency than the price is a mistake in one of them.
  const mixed = judge({ price: '10.00 EUR', salePrice: '8.50 USD' }, 'EUR', toDollars)
  assert.ok(mixed.kind === 'offer')
  assert.equal(mixed.offer.priceMicros, 12_000_000)
  assert.deepEqual(
    mixed.notes.map(({ note }) => note),
    ['price_converted', 'sale_ignored'],
  )
  const unknown = judge({ price: '10.00 GBP' }, 'EUR', toDollars)
  assert.equal(unknown.kind === 'rejected' && unknown.reason, 'currency_other')
})

test('whatever a feed writes in the place of a date is judged at once', () => {
  // A pattern that looked about from each colon took an hour for one such row.
  const salePriceDates = ':00'.repeat(300_000)
  assert.deepEqual(notes({ salePrice: '3.10 USD', salePriceDates }), ['sale_dates_unreadable'])
  const long = 'Mon Jun 01 2026 00:00:00 GMT+0000 (Central European Summer Time)'
  const both = `${long}/2026-07-01`
  assert.equal(offer({ salePrice: '3.10 USD', salePriceDates: both }).priceMicros, 3_100_000)
})

test('a sale price counts when it is lower, in dollars, and holds today', () => {
  const sale = (salePrice: string, salePriceDates = '') =>
    offer({ salePrice, salePriceDates }).priceMicros / 1e6
  assert.equal(sale('3.10 USD'), 3.1)
  assert.equal(sale('3.10 USD', '2026-06-01T00:00Z/2026-06-15T12:01Z'), 3.1)
  assert.equal(sale('3.10 USD', '2026-06-01T00:00Z/2026-06-15T12:00Z'), 4.2)
  assert.equal(sale('3.10 USD', '2026-07-01/2026-08-01'), 4.2)
  assert.equal(sale('3.10 USD', 'soon'), 4.2)
  assert.equal(sale('0.0000001 USD'), 4.2)
  for (const text of ['4.20 USD', '5 USD', '3.10 EUR', 'none']) assert.equal(sale(text), 4.2, text)
  assert.equal(offer({ salePrice: '3.10 USD' }).regularPriceMicros, 4_200_000)
  assert.equal(offer({ salePrice: '5 USD' }).regularPriceMicros, null)
  assert.deepEqual(notes({ salePrice: '5 USD' }), ['sale_ignored'])
})

test('a sale that ends on a day without a time of it lasts until that day is over', () => {
  const sale = (salePriceDates: string) =>
    offer({ salePrice: '3.10 USD', salePriceDates }).priceMicros / 1e6
  assert.equal(sale('2026-06-01/2026-06-15'), 3.1)
  assert.equal(sale('2026-06-15 / 2026-06-15'), 3.1)
  assert.equal(sale('2026-06-01/2026-06-14'), 4.2)
  assert.equal(sale('2026-06-16/2026-06-16'), 4.2)
  assert.equal(sale('1 June 2026/15 June 2026'), 3.1)
  assert.equal(sale('1 June 2026/14 June 2026'), 4.2)
})

test('stores an unusable code as its text, and notes it', () => {
  const gtin = (written: string) => {
    const { gtin14, gtinText } = offer({ gtin: written })
    return [gtin14, gtinText, ...notes({ gtin: written })]
  }
  assert.deepEqual(gtin('2488691019613'), [null, '2488691019613', 'gtin_restricted'])
  assert.deepEqual(gtin('N/A'), [null, null, 'gtin_missing'])
  assert.deepEqual(gtin(''), [null, null, 'gtin_missing'])
  assert.deepEqual(gtin('75925304137'), ['00075925304137', '75925304137', 'gtin_repaired'])
})

test('a word on stock that nobody knows sells nothing and is noted, as a picture that is none', () => {
  assert.equal(offer({ availability: 'maybe' }).isInStock, false)
  assert.deepEqual(notes({ availability: 'maybe' }), ['availability_unknown'])
  assert.equal(offer({ availability: '' }).isInStock, true)
  assert.deepEqual(notes({ availability: 'out of stock', imageLink: '1.jpg' }), ['image_invalid'])
  assert.deepEqual(notes({ imageLink: ' ' }), [], 'no picture is no mistake')
})

test('keeps a SKU that requests can name, and every price to the micro-dollar', () => {
  assert.equal(offer({ id: 'x'.repeat(255) }).sku.length, 255)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), (cents) => {
      const price = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')} USD`
      assert.equal(offer({ price }).priceMicros, cents * 10_000)
    }),
    { numRuns: 1000 },
  )
})

test('texts are decoded and cleaned, addresses kept as written unless a header could not hold them', () => {
  const { title, brand, url, imageUrl } = offer({
    title: ' Th&eacute;\n noir &amp; <b>\u0000\tlait ',
    brand: 'Zest &amp; Co',
    link: 'https://shop.example/thé?a=1&amp;b=2',
    imageLink: 'not an address',
  })
  assert.deepEqual([title, brand], ['Thé noir & lait', 'Zest & Co'])
  for (const space of ['\u00a0', '\u1680', '\u2003', '\u3000']) {
    assert.equal(offer({ title: `Green${space}tea` }).title, 'Green tea')
  }
  assert.equal(url, 'https://shop.example/th%C3%A9?a=1&b=2')
  assert.equal(imageUrl, null)
  const image = 'https://cdn.example/1.jpg?w=9&h=9'
  assert.equal(offer({ imageLink: image.replace('&', '&amp;') }).imageUrl, image)
  assert.equal(offer({ link: 'https://SHOP.example/p?a=%20' }).url, 'https://SHOP.example/p?a=%20')
  assert.equal(offer({ title: `${'x'.repeat(499)}🍮` }).title.length, 499)
})

test('any row at all is judged without an exception, and its texts can be stored', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\ud800', '\u0000', '\\N', '\t'),
  )
  const rows = fc.record({ ...Object.fromEntries(Object.keys(GOOD).map((name) => [name, text])) })
  fc.assert(
    fc.property(rows, (row) => {
      const { id, title, brand, mpn, gtin } = row as unknown as FeedFields
      const judgement = judge({ id: `x${id}`, title: `x${title}`, brand, mpn, gtin })
      if (judgement.kind !== 'offer') return
      for (const value of Object.values(judgement.offer)) {
        if (typeof value !== 'string') continue
        assert.equal(value, value.toWellFormed())
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that there is none is the test.
        assert.doesNotMatch(value, /[\u0000-\u001f]/)
      }
      judge(row as unknown as FeedFields)
    }),
  )
})

test('reads the first valid image of a cell that holds several', () => {
  const cells = [
    'https://i.example/a.jpg, https://i.example/b.jpg',
    'https://i.example/a.jpg|https://i.example/b.jpg',
    'https://i.example/a.jpg;https://i.example/b.jpg',
    'https://i.example/a.jpg https://i.example/b.jpg',
    'https://i.example/a.jpg\nhttps://i.example/b.jpg',
    '["https://i.example/a.jpg","https://i.example/b.jpg"]',
    '//i.example/a.jpg',
    'https://i.example/a.jpg,',
    '["https:\\/\\/i.example\\/a.jpg","https:\\/\\/i.example\\/b.jpg"]',
    'https://i.example/a.jpg, //i.example/b.jpg',
  ]
  for (const imageLink of cells) {
    assert.equal(offer({ imageLink }).imageUrl, 'https://i.example/a.jpg', imageLink)
  }
  // A comma, a bar or another URL may be part of one.
  for (const one of [
    'https://i.example/w_3,h_2/a.jpg',
    'https://i.example/r?u=https://x.example/b',
  ]) {
    assert.equal(offer({ imageLink: one }).imageUrl, one)
  }
})

test('removes HTML tags from a title, and keeps other angle brackets', () => {
  const cases: [string, string][] = [
    ['<b>Cast iron</b> pan <br> 24 cm', 'Cast iron pan 24 cm'],
    ['&lt;p&gt;Tea&lt;/p&gt;&lt;p&gt;Pot&lt;/p&gt;', 'Tea Pot'],
    ['H<sub>2</sub>O <span class="x">still</span>', 'H2O still'],
    ['Tea<br/>Pot <!-- new --> <IMG src="a.jpg">', 'Tea Pot'],
    ['Bowl < 10 cm, <3 & more', 'Bowl < 10 cm, <3 & more'],
    ['List<Item> of <hope>', 'List<Item> of <hope>'],
    ['<![CDATA[Tea & Pot]]>', 'Tea & Pot'],
    ['Tea &amp;amp; &amp;lt;b&amp;gt;Pot&amp;lt;/b&amp;gt;', 'Tea & Pot'],
  ]
  for (const [title, expected] of cases) assert.equal(offer({ title }).title, expected)
})

test('decodes the entities of a link, also numeric and doubly escaped ones', () => {
  const link = 'https://shop.example/p/1?size=m&color=red'
  for (const entity of [
    '&amp;',
    '&#038;',
    '&#38;',
    '&#x26;',
    '&#X026;',
    '&#0000000038;',
    '&amp;amp;',
    '&AMP;',
    '&amp;#38;',
  ]) {
    assert.equal(offer({ link: link.replace('&', entity) }).url, link, entity)
  }
  const other = 'https://shop.example/p/1?a=1&copy=2&b=3#x'
  assert.equal(offer({ link: other }).url, other)
})

test('reads words for nothing as an empty cell in every column', () => {
  for (const word of [
    'nan',
    'NULL',
    '#N/A',
    'undefined',
    'None',
    '(null)',
    '\\N',
    '<NA>',
    ' nil ',
    '(blank)',
    '#NV',
    '#¡VALOR!',
    '#####',
  ]) {
    const all = { brand: word, color: word, size: word, itemGroupId: word, mpn: word, gtin: word }
    const { brand, color, size, itemGroupId, mpn, gtinText, imageUrl, description } = offer({
      ...{ ...all, imageLink: word, description: word, salePrice: word, salePriceDates: word },
      ...{ saleStart: word, saleEnd: word, currency: word, category: word, availability: word },
    })
    const texts = [brand, color, size, itemGroupId, mpn, gtinText, imageUrl, description]
    assert.deepEqual(texts, Array(8).fill(null), word)
    assert.equal(reason({ id: word }), 'id_missing')
    assert.equal(reason({ title: word }), 'title_missing')
    assert.equal(reason({ link: word }), 'link_missing')
    assert.equal(reason({ price: word }), 'price_missing')
  }
  for (const brand of ['Nana', '#wow!']) assert.equal(offer({ brand }).brand, brand)
  assert.equal(offer({ availability: 'N/A' }).isInStock, false, 'or it means not available')
})

test('a product that is not for sale, or on pre-order, is not in stock', () => {
  const cases: [Partial<FeedFields>, boolean][] = [
    [{ availability: '1', forSale: '1', preOrder: '0' }, true],
    [{ availability: '0', forSale: '1', preOrder: '0' }, false],
    [{ availability: '1', forSale: '1', preOrder: '1' }, false],
    [{ availability: '1', forSale: '0', preOrder: '' }, false],
    [{ availability: 'yes', forSale: '', preOrder: 'no' }, true],
    [{ availability: '1', forSale: '1', preOrder: 'preorder' }, false],
    [{ availability: '1', forSale: '', preOrder: 'NULL' }, true],
    [{ availability: 'soldout' }, false],
    [{ availability: '1', forSale: 'soldout' }, false],
  ]
  for (const [fields, inStock] of cases) {
    assert.equal(offer(fields).isInStock, inStock, JSON.stringify(fields))
  }
})

test('a sale in two columns holds from its start to the end of its last day', () => {
  const price = (saleStart: string, saleEnd: string) =>
    offer({ salePrice: '3.10 USD', saleStart, saleEnd }).priceMicros / 1e6
  assert.equal(price('2026-06-01', '2026-06-15'), 3.1)
  assert.equal(price('2026-01-01', '2026-01-31'), 4.2)
  assert.equal(price('2036-01-01', '2036-01-31'), 4.2)
  assert.equal(price('2026-06-01 00:00:00', ''), 3.1)
  assert.equal(price('', '2026-06-14'), 4.2)
  assert.equal(price('0000-00-00 00:00:00', 'null'), 3.1)
  for (const odd of ['06/07/2026', 'soon', '2026-02-31', '31/31/2026']) {
    assert.deepEqual(notes({ salePrice: '3.10 USD', saleEnd: odd }), ['sale_dates_unreadable'], odd)
    assert.equal(price('', odd), 4.2)
  }
})
