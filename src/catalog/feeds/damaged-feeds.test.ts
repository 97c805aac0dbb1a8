/** One wrong byte in a feed, at every place and in every format. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FeedEntry } from './feed-entry.ts'
import { readFeed } from './read-feed.ts'

async function read(text: string): Promise<{ entries: FeedEntry[]; isCut: boolean } | null> {
  async function* bytes() {
    yield Buffer.from(text)
  }
  const reading = readFeed(bytes())
  const entries: FeedEntry[] = []
  try {
    for await (const batch of reading.entries()) entries.push(...batch)
  } catch {
    return null // Refused as a whole: nothing is removed.
  }
  return { entries, isCut: reading.isCut }
}

const IDS = ['41', '42', '43', '44']
const product = (id: string) => ({
  id,
  title: `Tea ${id} "best", fine & strong; ${id}`,
  link: `https://shop.example/p/${id}?a=${id}&b=2`,
  price: `${id}.00 USD`,
  image_link: `https://shop.example/i/${id}.jpg`,
  description: `Line of ${id}\nand, ${id}`,
})
type Product = ReturnType<typeof product>
const NAMES = Object.keys(product('')) as (keyof Product)[]

const xmlText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const elements = (item: Product, prefix: string) =>
  NAMES.map((name) => {
    const isSection = name === 'title' || name === 'description'
    const text = isSection ? `<![CDATA[${item[name]}]]>` : xmlText(item[name])
    return `<${prefix}${name}>${text}</${prefix}${name}>`
  }).join('')
const xml = (before: string, element: string, after: string, prefix = '') => {
  const items = IDS.map((id) => {
    const comment = id === '42' ? '<!-- second -->' : ''
    return `<${element}>${comment}${elements(product(id), prefix)}</${element}>\n`
  })
  return `<?xml version="1.0"?>\n${before}<!-- made by Shop -->\n${items.join('<!-- x -->')}${after}`
}
const quoted = (separator: string) => {
  const row = (cells: readonly string[]) =>
    cells
      .map((cell) =>
        /["\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell,
      )
      .join(separator)
  return `${[NAMES, ...IDS.map((id) => Object.values(product(id)))].map(row).join('\n')}\n`
}

const FEEDS: Record<string, string> = {
  rss: xml(
    '<rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>S</title>',
    'item',
    '</channel></rss>',
    'g:',
  ),
  products: xml('<products>', 'product', '</products>'),
  csv: quoted(','),
  tsv: quoted('\t'),
  jsonl: IDS.map((id) => `${JSON.stringify(product(id))}\n`).join(''),
}
/** At each place four of them are tried; all at once take a minute. */
const BYTES_AT_ONCE = 4
const BYTES = ['X', ' ', '<', '>', '&', '"', "'", '/', '-', ']', ',', '\t', '\n', '{', '}']

/** Which products a text speaks of. */
const idsIn = (text: string) => new Set(text.match(/4[1-4]/g))

for (const [format, feed] of Object.entries(FEEDS)) {
  test(`one wrong byte in a ${format} feed costs its own item only, and retires no other`, async () => {
    const header = format === 'csv' || format === 'tsv' ? feed.indexOf('\n') + 1 : 0
    for (let at = header; at < feed.length; at++) {
      for (let turn = 0; turn < BYTES_AT_ONCE; turn++) {
        const byte = BYTES[(at * BYTES_AT_ONCE + turn) % BYTES.length] ?? ''
        if (feed[at] === byte) continue
        const found = await read(feed.slice(0, at) + byte + feed.slice(at + 1))
        const what = JSON.stringify(
          `${feed.slice(at - 40, at)}[${byte}]${feed.slice(at + 1, at + 30)}`,
        )
        assert.ok(found !== null, `refused: ${what}`)
        checkRead(found, what)
      }
    }
  })
}

function checkRead({ entries, isCut }: { entries: FeedEntry[]; isCut: boolean }, what: string) {
  const rows = entries.flatMap((entry) => (entry.kind === 'row' ? [entry.fields] : []))
  const bad = entries.filter((entry) => entry.kind === 'bad')
  // No row speaks of two products, whichever of its fields.
  for (const row of rows) {
    assert.ok(idsIn(Object.values(row).join(' ')).size <= 2, what)
    const { link, title, price, imageLink, description } = row
    const ids = idsIn([link, title, price, imageLink].join(' '))
    assert.ok(ids.size <= 1 && idsIn(description).size <= 1, `${what}: ${JSON.stringify(row)}`)
  }
  // At most the item with the wrong byte differs; a byte between two may cost both.
  const whole = rows.filter(({ id, title, link, price, imageLink, description }) => {
    const { image_link, ...same } = product(id)
    const row = { id, title, link, price, description, imageLink }
    return JSON.stringify(row) === JSON.stringify({ ...same, imageLink: image_link })
  })
  assert.ok(whole.length >= 2, `${what}: only ${whole.length} whole`)
  assert.ok(rows.length + bad.length >= 3, what)
  // An id that is gone was in a row whose id was changed, or nothing is removed at all.
  const known = new Set([...rows.map(({ id }) => id), ...bad.map(({ id }) => id)])
  const gone = IDS.filter((id) => !known.has(id))
  const isRemoving = !isCut && bad.every(({ id }) => id !== null)
  const changed = rows.filter(({ id }) => !IDS.includes(id))
  if (isRemoving) assert.equal(gone.length <= changed.length, true, `${what}: ${gone} is retired`)
}
