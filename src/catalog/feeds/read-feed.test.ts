import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from '../../../test/support/fast-check.ts'
import { ROW_CHARACTERS_MAX } from '../../platform/text/csv-reader.ts'
import { readAvailability } from './availability.ts'
import type { FeedFields } from './feed-columns.ts'
import type { FeedEntry } from './feed-entry.ts'
import { type ReadOptions, readFeed } from './read-feed.ts'

async function read(
  bytes: Buffer | string,
  { pieceBytes = 1 << 16, ...options }: ReadOptions & { pieceBytes?: number } = {},
): Promise<{ entries: FeedEntry[]; isCut: boolean }> {
  const all = Buffer.from(bytes as Buffer)
  async function* pieces() {
    for (let at = 0; at < all.length; at += pieceBytes) yield all.subarray(at, at + pieceBytes)
  }
  const reading = readFeed(pieces(), options)
  const entries: FeedEntry[] = []
  for await (const batch of reading.entries()) for (const entry of batch) entries.push(entry)
  return { entries, isCut: reading.isCut }
}

function rows(entries: readonly FeedEntry[]): FeedFields[] {
  return entries.flatMap((entry) => (entry.kind === 'row' ? [entry.fields] : []))
}

function faults(entries: readonly FeedEntry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'bad' ? [`${entry.reason}@${entry.line}`] : []))
}

const TEA = { id: '1', title: 'Thé noir', link: 'https://s.example/1', price: '4.20 USD' }

const CSV = `id,title,link,price,gtin\r\n1,Thé noir,https://s.example/1,4.20 USD,\r\n`
const TSV = CSV.replaceAll(',', '\t')
const JSONL = `${JSON.stringify(TEA)}\n`
const RSS = `<?xml version="1.0"?><rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>
<title>Shop</title><link>https://s.example/</link><item><g:id>1</g:id><title>Thé noir</title>
<link>https://s.example/1</link><g:price>4.20 USD</g:price></item></channel></rss>`
const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:p="http://base.google.com/ns/1.0">
<id>tag:shop</id><entry><id>tag:shop:1</id><p:id>1</p:id><title><![CDATA[Thé noir]]></title>
<link rel="self" href="https://s.example/feed"/><link href="https://s.example/1"/>
<p:price>4.20 USD</p:price></entry></feed>`

test('every format in every charset and every cut into pieces gives the same row', async () => {
  const formats = { CSV, TSV, semicolons: CSV.replaceAll(',', ';'), JSONL, RSS, ATOM }
  const charsets: Record<string, (text: string) => Buffer> = {
    'UTF-8': (text) => Buffer.from(text),
    'UTF-8 with a mark': (text) => Buffer.from(`\ufeff${text}`),
    'UTF-16LE': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
    'UTF-16BE': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    'Latin-1': (text) => Buffer.from(text, 'latin1'),
  }
  for (const [format, text] of Object.entries(formats)) {
    for (const [charset, encode] of Object.entries(charsets)) {
      for (const pieceBytes of [5, 64, 1 << 16]) {
        const { entries, isCut } = await read(encode(text), { pieceBytes })
        const [{ id, title, link, price } = TEA, ...more] = rows(entries)
        const what = `${format} in ${charset}, pieces of ${pieceBytes}`
        assert.deepEqual([{ id, title, link, price }, more, isCut], [TEA, [], false], what)
      }
    }
  }
})

test('a file for old Macintoshes, with a bare carriage return behind each line, is read', async () => {
  const many = Array.from(
    { length: 3_000 },
    (_, at) => `${at},Thé noir,https://s.example/${at},4 USD,`,
  )
  const text = ['id,title,link,price,gtin', ...many, ''].join('\r')
  for (const [all, count] of [
    [CSV.replaceAll('\r\n', '\r'), 1],
    [text, many.length],
  ] as const) {
    for (const pieceBytes of [7, 1 << 16]) {
      const { entries, isCut } = await read(all, { pieceBytes })
      assert.deepEqual([rows(entries).length, faults(entries), isCut], [count, [], false])
    }
  }
})

test('a first column without a name, of row numbers, moves no other, and blank lines stand above it', async () => {
  for (const [separator, format] of [
    ['\t', 'auto'],
    ['\t', 'tsv'],
    [',', 'auto'],
  ] as const) {
    const lines = ['id,title,link,price,gtin', '1,Thé noir,https://s.example/1,4.20 USD,']
    const numbered = [`,${lines[0]}`, `0,${lines[1]}`].join('\n').replaceAll(',', separator)
    for (const before of ['', '\ufeff', '\n', ' \t\r\n\n ']) {
      const { entries } = await read(`${before}${numbered}\n`, { format })
      assert.deepEqual(faults(entries), [], JSON.stringify([before, separator, format]))
      assert.equal(rows(entries)[0]?.title, 'Thé noir')
    }
  }
})

test('the format that the operator names is read, whatever the feed looks like', async () => {
  // More commas than tabs in the header.
  const feed = 'id\ttitle\tlink\tprice\ta,b,c,d,e,f\n1\tTea\thttps://s.example/1\t4 USD\tx\n'
  for (const format of ['auto', 'tsv', 'csv'] as const) {
    assert.equal(rows((await read(feed, { format })).entries)[0]?.title, 'Tea')
  }
  await assert.rejects(read(CSV, { format: 'tsv' }), /line 1 does not look like a header/)
  assert.deepEqual(faults((await read(CSV, { format: 'jsonl' })).entries)[0], 'row_malformed@1')
  await assert.rejects(read('<rss></rss>', { format: 'csv' }), /no column id/)
})

test('reports a line by its number in the file, however lines end', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const lines = ['id,title,link,price', '1,a,https://s.example/1,2 USD', '2,b', '']
    assert.deepEqual(faults((await read(lines.join(end))).entries), ['row_malformed@3'])
  }
})

test('column names are understood in any case, with spaces, underscores and aliases', async () => {
  const header = 'Item ID,Product Name,URL,Image Link,PRICE,EAN,g:google_product_category,Extra'
  const { entries } = await read(`${header}\n7,Tea,https://s.example/7,i,5 USD,301,422,x\n`)
  const [row] = rows(entries)
  assert.deepEqual(
    [row?.id, row?.title, row?.link, row?.imageLink, row?.price, row?.gtin, row?.category],
    ['7', 'Tea', 'https://s.example/7', 'i', '5 USD', '301', '422'],
  )
  // Where two columns mean the same, the surer name wins wherever it stands.
  const both = await read('sku,id,name,title,url,price\nS,I,N,T,u,1 USD\n')
  assert.deepEqual([rows(both.entries)[0]?.id, rows(both.entries)[0]?.title], ['I', 'T'])
})

test('the columns of affiliate networks’ feeds are known', async () => {
  const awin =
    'aw_deep_link,product_name,merchant_product_id,merchant_deep_link,search_price,in_stock\n' +
    'https://network.example/1,Tea,7,https://s.example/7,5.00,0\n'
  const impact =
    'Unique Merchant SKU,Product Name,Product URL,Current Price,Original Price,Stock Availability\n' +
    '7,Tea,https://s.example/7,5.00,6.00,N\n'
  for (const feed of [awin, impact]) {
    const [row] = rows((await read(feed)).entries)
    assert.deepEqual([row?.id, row?.title, row?.link], ['7', 'Tea', 'https://s.example/7'])
    assert.deepEqual([row?.price, readAvailability(row?.availability ?? '')], ['5.00', false])
  }
})

test('reads a status as availability, and as a veto beside another stock column', async () => {
  const said = async (head: string, cells: string) => {
    const feed = `id,title,link,price,${head}\n1,Tea,https://s.example/1,5,${cells}\n`
    const [row] = rows((await read(feed)).entries)
    return [row?.availability, row?.forSale]
  }
  assert.deepEqual(await said('status', 'soldout'), ['soldout', 'soldout'])
  assert.deepEqual(await said('in_stock,status', '1,soldout'), ['1', 'soldout'])
  assert.deepEqual(await said('status,is_for_sale', 'active,0'), ['active', '0'])
})

test('reads the currency of a price from its column name or its attribute', async () => {
  const price = async (feed: string) => {
    const [row] = rows((await read(feed)).entries)
    return [row?.price, row?.salePrice]
  }
  const csv = (price: string, sale: string, cells: string) =>
    `id,title,link,${price},${sale}\n1,Tea,https://s.example/1,${cells}\n`
  assert.deepEqual(await price(csv('Price (EUR)', 'sale_price_eur', '5,4')), ['5 EUR', '4 EUR'])
  assert.deepEqual(await price(csv('price_gbp', 'x', '5 USD,')), ['5 USD', ''], 'its own is surer')
  assert.deepEqual(await price(csv('Price £', 'price', '5,')), ['5 £', ''])
  const item = `<id>1</id><title>T</title><link>u</link><price currency="EUR">5</price>`
  assert.deepEqual(await price(`<a><b>${item}</b></a>`), ['5 EUR', ''])
  assert.deepEqual(await price(`${JSON.stringify({ ...TEA, price: '', price_sek: 5 })}\n`), [
    '5 SEK',
    '',
  ])
})

test('where a surer name says nothing in a row, the next one counts, in every format', async () => {
  const fields = { gtin: '', ean: '', upc: '036000291452', brand: '', manufacturer: 'Thé & Co' }
  const header = [...Object.keys(TEA), ...Object.keys(fields)]
  const csv = `${header.join(',')}\n${[...Object.values(TEA), ...Object.values(fields)].join(',')}\n`
  const jsonl = `${JSON.stringify({ ...TEA, ...fields })}\n`
  for (const feed of [csv, jsonl]) {
    const [row] = rows((await read(feed)).entries)
    assert.deepEqual([row?.gtin, row?.brand], ['036000291452', 'Thé & Co'], feed)
  }
})

test('what is no feed is refused as a whole, saying why', async () => {
  await assert.rejects(read(''), /the feed is empty/)
  await assert.rejects(read(' \n '), /the feed is empty/)
  await assert.rejects(
    read('<!DOCTYPE html><html><body>404</body></html>'),
    /first element is <html>, and no element in it/,
  )
  await assert.rejects(
    read('<!doctype html><html><body>404</body></html>'),
    /first element is <html>, and no element in it/,
  )
  for (const root of ['html', 'sitemapindex', 'rss2', 'myrss']) {
    const refusal = new RegExp(`not a product feed: its first element is <${root}>, and no element`)
    await assert.rejects(read(`<${root}><item><id>1</id></item></${root}>`), refusal)
  }
  await assert.rejects(read('[{"id":1}]'), /one object a line/)
  await assert.rejects(
    read('id,title,price\n1,a,2\n'),
    /no column link \(or url, .*\); it reads: id, title/,
  )
  await assert.rejects(read('just some words'), /no column id .* and no column title/)
  const lines = read('"a\nok  database  all is well",b\n1,2\n')
  await assert.rejects(
    lines,
    /no column id .*; it reads: a ok database all is well, b; .*map them to fields$/,
  )
  await assert.rejects(read(gzipSync(CSV)), /the feed is not text: .* packed twice/)
})

test('JSON objects may hold numbers, booleans, lists and prices with a currency', async () => {
  const object = {
    ID: 12,
    title: 'Tea',
    link: 'https://s.example/12',
    price: { value: 4.5, currency: 'USD' },
    sale_price: { amount: '4', currencyCode: 'EUR' },
    in_stock: true,
    image_link: ['https://s.example/a.jpg', 'b'],
    gtin: 3017620422003,
    brand: null,
    mpn: { nothing: 1 },
  }
  const { entries } = await read(`${JSON.stringify(object)}\n`)
  const [row] = rows(entries)
  assert.deepEqual(
    [row?.id, row?.price, row?.availability, row?.imageLink, row?.gtin, row?.brand, row?.mpn],
    ['12', '4.5 USD', 'true', 'https://s.example/a.jpg', '3017620422003', '', ''],
  )
  assert.equal(row?.salePrice, '4 EUR')
})

test('a value of lists in lists without bottom is no text, and costs no other row', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const { entries } = await read(`${JSON.stringify(TEA)}\n{"id":"2","title":${deep}}\n`)
  assert.deepEqual(
    rows(entries).map(({ id, title }) => [id, title]),
    [
      [TEA.id, TEA.title],
      ['2', ''],
    ],
  )
})

test('an id that a number could not hold keeps all its digits', async () => {
  const ids = ['9007199254740993', '9007199254740992', '123456789012345678901']
  const { entries } = await read(ids.map((id) => `{"id": ${id}, "price": 1e3}\n`).join(''))
  assert.deepEqual(
    rows(entries).map(({ id, price }) => [id, price]),
    ids.map((id) => [id, '1000']),
  )
})

test('a line that is no JSON object costs itself; at the end of the feed it is a cut', async () => {
  const line = JSON.stringify(TEA)
  const { entries, isCut } = await read(`${line}\n{"id":\n[1]\n"x"\n\n${line}\n{"id":"2","ti`)
  assert.equal(rows(entries).length, 2)
  const found = ['row_malformed@2', 'row_malformed@3', 'row_malformed@4', 'row_truncated@7']
  assert.deepEqual([faults(entries), isCut], [found, true])
  assert.equal((await read(`{"id":\n${line}\n`)).isCut, false, 'a bad line is no end')
  const long = `${line}\n{"x":"${'y'.repeat(2 * ROW_CHARACTERS_MAX)}"}\n${line}\n`
  const after = await read(long)
  assert.deepEqual([rows(after.entries).length, faults(after.entries)], [2, ['row_too_long@2']])
})

const item = (inside: string) => `<item><g:id>1</g:id>${inside}</item>`
const rss = (inside: string, doctype = '') =>
  `${doctype}<rss xmlns:g="http://base.google.com/ns/1.0"><channel>${inside}</channel></rss>`

test('entities that a document declares are never expanded', async () => {
  const bomb = `<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">
    <!ENTITY file SYSTEM "file:///etc/passwd">]>`
  const { entries } = await read(
    rss(item('<title>&b; &file; &amp;&lt;&#233;&#00000000233;</title>'), bomb),
  )
  assert.equal(rows(entries)[0]?.title, '&b; &file; &<éé')
})

test('only the own children of an item are read', async () => {
  const shipping = '<g:shipping><g:price>9 USD</g:price><g:id>x</g:id></g:shipping>'
  const { entries } = await read(rss(item(`${shipping}<g:price>5 USD</g:price>${shipping}`)))
  assert.deepEqual([rows(entries)[0]?.price, rows(entries)[0]?.id], ['5 USD', '1'])
  const cost = '<g:shipping><g:price>9 USD</g:price></g:shipping>'
  const costsFirst = await read(rss(item(`${cost}<g:price>5 USD</g:price>`)))
  assert.equal(rows(costsFirst.entries)[0]?.price, '5 USD')
})

test('Google’s name is surer than the plain one, the surer of two names whichever has the prefix', async () => {
  const two = ['<id>tag:1</id>', '<g:id>7</g:id>', '<name>N</name>', '<g:title>T</g:title>']
  const crossed = ['<g:sku>S</g:sku>', '<id>7</id>', '<g:name>N</g:name>', '<title>T</title>']
  for (const pair of [two, crossed]) {
    for (const fields of [pair, pair.toReversed()]) {
      const [row] = rows((await read(rss(`<item>${fields.join('')}</item>`))).entries)
      assert.deepEqual([row?.id, row?.title], ['7', 'T'], fields.join(''))
    }
  }
})

test('the prefix of Google’s namespace is the one declared, on whichever element', async () => {
  const declared = 'xmlns:x="http://base.google.com/ns/1.0"'
  const title = '<x:title>Tea</x:title>'
  for (const feed of [
    `<rss><channel ${declared}><item><x:id>1</x:id>${title}</item></channel></rss>`,
    `<rss><channel><item ${declared}><x:id>1</x:id>${title}</item></channel></rss>`,
    `<rss ${declared} xmlns:c="http://base.google.com/cns/1.0"><channel>
      <item><x:id>1</x:id><c:id type="string">2</c:id>${title}</item></channel></rss>`,
    `<rss><item><x:id ${declared}>1</x:id>${title.replace('>', ` ${declared}>`)}</item></rss>`,
  ]) {
    const [row] = rows((await read(feed)).entries)
    assert.deepEqual([row?.id, row?.title], ['1', 'Tea'], feed)
  }
  const other = `<rss ${declared} xmlns:g="urn:other"><item><g:id>2</g:id>${title}</item></rss>`
  assert.deepEqual(rows((await read(other)).entries)[0]?.id, '')
})

test('an item that is not well-formed costs itself, a bare ampersand nothing', async () => {
  const good = item('<title>R&D & more &eacute;</title>')
  const bad = [item('<title>a<b></title>'), item('<a =x></a>'), item('</title>')]
  const { entries } = await read(rss([good, ...bad.slice(0, 2), good].join('\n')))
  assert.deepEqual(
    rows(entries).map(({ title }) => title),
    ['R&D & more &eacute;', 'R&D & more &eacute;'],
  )
  assert.deepEqual(faults(entries), ['row_malformed@2', 'row_malformed@3'])
  const wild = await read(rss([good, bad[2], good].join('\n')))
  assert.deepEqual([rows(wild.entries).length, faults(wild.entries)], [2, ['row_malformed@2']])
})

test('a document that ends inside an item or before its end is cut', async () => {
  const whole = rss(item('<title>a</title>') + item('<title>b</title>'))
  const inItem = await read(whole.slice(0, whole.lastIndexOf('b</title>')))
  assert.deepEqual([rows(inItem.entries).length, faults(inItem.entries)], [1, ['row_truncated@1']])
  const between = await read(whole.slice(0, whole.lastIndexOf('<item>')))
  for (const { isCut } of [inItem, between]) assert.equal(isCut, true)
  assert.equal((await read(whole)).isCut, false)
})

test('what is read as XML and is none is refused as such, not as a feed without rows', async () => {
  const table = 'id\ttitle\n1\tKettle\n'
  for (const text of [table, table.repeat(200_000), '{"id": 1}', '<?xml version="1.0"?>\n']) {
    await assert.rejects(
      read(text, { format: 'xml' }),
      /not a product feed: it has no XML element/,
      text,
    )
  }
})

test('an element without end or bottom costs its item, and is not gathered in memory', async () => {
  const deep = item('<a>'.repeat(100) + '</a>'.repeat(100))
  const long = item(`<title>${'x'.repeat(ROW_CHARACTERS_MAX + 1)}</title>`)
  const open = `<item><title>${'<b>x</b>'.repeat(ROW_CHARACTERS_MAX / 4)}`
  const good = item('<title>b</title>')
  const cases = [
    [deep, 'row_malformed@1'],
    [long, 'row_too_long@1'],
    [open, 'row_too_long@1'],
    [`<!--${'x'.repeat(4 * ROW_CHARACTERS_MAX)}`, 'row_malformed@1'],
    [`</item${' '.repeat(4 * ROW_CHARACTERS_MAX)}`, 'row_malformed@1'],
    [`<item><title>a</title></item${' '.repeat(4 * ROW_CHARACTERS_MAX)}`, 'row_malformed@1'],
    ['<item><title>a</title></item ', 'row_malformed@1'],
  ] as const
  for (const [bad, fault] of cases) {
    const { entries } = await read(rss(bad + good))
    assert.deepEqual([faults(entries), rows(entries).length], [[fault], 1], bad.slice(0, 40))
  }
})

test('blanks without end are no feed, and are not gathered', async () => {
  let pieces = 0
  async function* blanks() {
    for (; pieces < 100; pieces++) yield Buffer.alloc(16_384, ' ')
  }
  await assert.rejects(readFeed(blanks()).entries().next(), /the feed is empty/)
  assert.ok(pieces < 10, `${pieces} pieces were gathered`)
})

test('any bytes are read to their end, or refused with a FeedError', async () => {
  const start = fc.constantFrom(
    '',
    'id,title,link,price\n',
    '{"id":1}\n',
    '<rss><item>',
    '\ufeff<feed>',
  )
  const bytes = fc.uint8Array({ maxLength: 200 })
  await fc.assert(
    fc.asyncProperty(
      start,
      bytes,
      fc.integer({ min: 1, max: 50 }),
      async (text, tail, pieceBytes) => {
        const all = Buffer.concat([Buffer.from(text), tail])
        await read(all, { pieceBytes }).catch((error) =>
          assert.equal(error.constructor.name, 'FeedError'),
        )
      },
    ),
  )
})

test('finds the repeated element of any XML by its children, or by --element', async () => {
  const fields = (id: string) =>
    `<ITEM_ID>${id}</ITEM_ID><PRODUCTNAME>T${id}</PRODUCTNAME><URL>https://s.example/${id}</URL><PRICE_VAT>9</PRICE_VAT>`
  const own = (id: string) =>
    `<id>${id}</id><name>T${id}</name><url>https://s.example/${id}</url><price>9</price>`
  const many = (make: (id: string) => string) => ['1', '2'].map(make).join('\n')
  const feeds = {
    heureka: `<SHOP>${many((id) => `<SHOPITEM>${fields(id)}</SHOPITEM>`)}</SHOP>`,
    products: `<products>${many((id) => `<product>${own(id)}</product>`)}</products>`,
    nested: `<shop><name>S</name><url>u</url><offers>${many(
      (id) => `<offer id="${id}" available="true">${own(id).replace(/<id>.*<\/id>/, '')}</offer>`,
    )}</offers></shop>`,
    variants: `<catalog>${many(
      (id) =>
        `<thing>${own(id)}<variants>${many((v) => `<variant>${own(`${id}${v}`)}</variant>`)}</variants></thing>`,
    )}</catalog>`,
    prefixed: `<n:list xmlns:n="urn:n">${many(
      (id) => `<n:row>${own(id).replaceAll(/<(\/?)/g, '<$1n:')}</n:row>`,
    )}</n:list>`,
    single: `<data><meta><title>x</title></meta><entry2>${own('1')}</entry2></data>`,
  }
  for (const [name, feed] of Object.entries(feeds)) {
    for (const pieceBytes of [7, 1 << 16]) {
      const { entries, isCut } = await read(feed, { pieceBytes })
      const wanted = name === 'single' ? ['1 T1'] : ['1 T1', '2 T2']
      const titles = rows(entries).map(({ id, title }) => `${id} ${title}`)
      assert.deepEqual([titles, faults(entries), isCut], [wanted, [], false], name)
    }
  }
  const odd = '<a><b><nr>1</nr><was>Tea</was><wo>https://s.example/1</wo><kostet>9</kostet></b></a>'
  await assert.rejects(
    read(odd),
    /first element is <a>, .* name the repeated element in the options/,
  )
  const map = { id: ['nr'], title: ['was'], link: ['wo'], price: ['kostet'] }
  for (const options of [{ map }, { map, element: 'b' }]) {
    const [row] = rows((await read(odd, options)).entries)
    assert.deepEqual([row?.id, row?.title, row?.price], ['1', 'Tea', '9'])
  }
  assert.equal(rows((await read(odd, { element: 'b' })).entries).length, 1)
  await assert.rejects(read(odd, { element: 'c' }), /has no element <c>/)
})

test('a map names columns in every format, and overrides known names', async () => {
  const map = { id: ['Artikel-Nr', 'nr2'], title: ['Bezeichnung'], price: ['name'], mpn: ['nr2'] }
  const names = ['Bezeichnung', 'url', 'name', 'nr2', 'title']
  const cells = ['Tee', 'https://s.example/1', '9 EUR', 'X7', 'Other']
  const object = Object.fromEntries(names.map((name, at) => [name, cells[at]]))
  const xml = names.map((name, at) => `<${name}>${cells[at]}</${name}>`).join('')
  const feeds = [
    `${names.join()}\n${cells.join()}\n`,
    `${JSON.stringify(object)}\n`,
    `<list><row>${xml}</row></list>`,
  ]
  for (const feed of feeds) {
    const [row] = rows((await read(feed, { map })).entries)
    const cells = [row?.id, row?.title, row?.price, row?.mpn]
    assert.deepEqual(cells, ['X7', 'Tee', '9 EUR', 'X7'], feed)
  }
})

test('skips lines above the header, and numbers rows by their line in the file', async () => {
  const table = 'id;title;link;price\n1;Tea;https://s.example/1;2 USD\n2;b\n'
  const preambles = ['# a\n# b, "c\n', 'sep=;\n', 'My shop, all products\n\n', '"sep=;"\n#x\n\n']
  for (const preamble of preambles) {
    for (const pieceBytes of [5, 1 << 16]) {
      const { entries } = await read(preamble + table, { pieceBytes })
      const line = preamble.split('\n').length + 2
      assert.deepEqual(
        [rows(entries)[0]?.title, faults(entries)],
        ['Tea', [`row_malformed@${line}`]],
      )
    }
  }
})

test('takes a comment for the header only when no other line is one', async () => {
  const first = async (text: string) => {
    const [row] = rows((await read(text)).entries)
    return [row?.id, row?.title, row?.brand]
  }
  const row = '1,Tea,https://s.example/1,2 USD,Alder\n'
  const listed = `# Columns: id, title, link, price\nid,title,link,price,brand\n${row}`
  assert.deepEqual(await first(listed), ['1', 'Tea', 'Alder'])
  const hidden = `# Shop\n# id,title,link,price,brand\n${row}`
  assert.deepEqual(await first(hidden), ['1', 'Tea', 'Alder'])
  assert.deepEqual(await first(`#,id,title,link,price,brand\n0,${row}`), ['1', 'Tea', 'Alder'])
})

test('a comment between items hides its content, and an unclosed one hides nothing', async () => {
  const hidden = await read(rss(`${item('')}<!-- ${item('<title>x</title>')} -->${item('')}`))
  assert.deepEqual([rows(hidden.entries).length, faults(hidden.entries)], [2, []])
  const open = await read(rss(`<!-- a${item('')}<!-- b -->${item('')}`))
  assert.deepEqual([rows(open.entries).length, faults(open.entries)], [2, ['row_malformed@1']])
})

test('reads NaN and None in JSON lines, and takes a feed with one NUL for text', async () => {
  const line =
    '{"id":"1","title":"NaN, None","link":"u","price":"2","brand":NaN,"gtin":None,"size":-Infinity}'
  const [row] = rows((await read(`${line}\n`)).entries)
  assert.deepEqual([row?.title, row?.brand, row?.gtin, row?.size], ['NaN, None', '', '', ''])
  const { entries } = await read(rss(item('<title>a</title>') + item('<title>b\0</title>')))
  assert.equal(rows(entries).length, 2)
})

test('reads items across the pieces of a long feed', async () => {
  const before = `<!-- ${'x'.repeat(140_000)} -->\n`
  const items = [
    item('<title>R&amp;D</title>'),
    item('<title><![CDATA[a <b> & c]]></title>'),
    item('<title>open'),
    item('<title>not <closed</title>'),
    `<!-- ${item('<title>hidden</title>')} -->`,
    '<item id="7" title="A &amp; B"/>',
    item('<title>H&M &eacute;</title><link rel="x" href="1"/><link href="2?a&b"/>'),
  ]
  const feed = rss(before + items.join('\n'))
  const whole = await read(feed)
  assert.equal(rows(whole.entries).length, 4)
  for (const pieceBytes of [1, 2, 3, 7, 64]) {
    assert.deepEqual(await read(feed, { pieceBytes }), whole, `pieces of ${pieceBytes}`)
  }
})
