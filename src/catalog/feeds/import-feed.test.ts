import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { testDatabase } from '../../../test/support/database.ts'
import fc from '../../../test/support/fast-check.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { micros } from '../../platform/money/money.ts'
import { urlKey } from '../../platform/net/url.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { MERCHANT_DEFAULTS } from '../merchant.ts'
import { insertMerchant } from '../merchant-store.ts'
import { openFeedFile } from './feed-file.ts'
import { type ImportOptions, importFeed, type RejectedRow } from './import-feed.ts'
import type { ImportResult } from './import-result.ts'
import { lockMerchantFeed, unlockMerchantFeed } from './offer-store.ts'

const HEADER = 'id,title,link,price,gtin,availability\n'
/** Three chunks of 20,000: with two on their way, a third is sent when one has arrived. */
const MANY_CHUNKS = 65_000

const db = await testDatabase()
const folder = await temporaryFolder({ after }, 'souk-test-')
let shops = 0

/** A separate merchant for each test, and how to import a feed for it. */
async function shop() {
  const domain = `shop${++shops}.example`
  const settings = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: [domain] }
  const { merch_id: merchId } = await insertMerchant(db, settings)
  const row = (id: string | number, price = '4.20 USD', rest = ',in stock') =>
    `${id},Tea ${id},https://www.${domain}/p/${id},${price},${rest}\n`
  const load = async (feed: string | Buffer, options: Partial<ImportOptions> = {}) => {
    const path = join(folder, `feed-${shops}`)
    await writeFile(path, feed)
    const file = await openFeedFile(path)
    const defaults = { merchId, file, format: 'auto', at: new Date(), seed: 1 } as const
    return importFeed(db, { ...defaults, ...options })
  }
  return { merchId, domain, row, load }
}

interface Seen {
  offer_id: string
  sku: string
  price: number
}

function current(merchId: number): Promise<Seen[]> {
  return db.rows<Seen>(sql`
    select offer_id, sku, price_micros::float8 / 1000000 as price
    from current_offer where merch_id = ${merchId} order by sku collate "C"
  `)
}

async function prices(merchId: number): Promise<Record<string, number>> {
  return Object.fromEntries((await current(merchId)).map(({ sku, price }) => [sku, price]))
}

/** All versions, those that nobody sees included. */
async function versions(merchId: number): Promise<number> {
  const row = await db.row<{ n: number }>(
    sql`select count(*)::int as n from offer where merch_id = ${merchId}`,
  )
  return row?.n ?? 0
}

function counts({ offers_upserted, offers_removed, offers_unchanged }: ImportResult): number[] {
  return [offers_upserted, offers_removed, offers_unchanged]
}

test('new and changed offers are upserted under the same id, vanished ones are retired', async () => {
  const { merchId, row, load } = await shop()
  const first = await load(HEADER + row('a') + row('b') + row('c'))
  assert.deepEqual(counts(first), [3, 0, 0])
  assert.deepEqual([first.rows, first.rejected, first.truncated], [3, {}, false])
  const [a, b] = await current(merchId)

  const second = await load(HEADER + row('b', '5.00 USD') + row('d') + row('a'))
  assert.deepEqual(counts(second), [2, 1, 1])
  assert.deepEqual(await prices(merchId), { a: 4.2, b: 5, d: 4.2 })
  const [a2, b2] = await current(merchId)
  assert.deepEqual([a2?.offer_id, b2?.offer_id], [a?.offer_id, b?.offer_id])
  assert.equal(await versions(merchId), 3, 'versions that ended are deleted')
  assert.deepEqual(await db.rows(sql`select from feed_import where merch_id = ${merchId}`), [])
})

test('the same feed again writes nothing, and says so', async () => {
  const { merchId, row, load } = await shop()
  const feed = HEADER + row('a') + row('b')
  await load(feed)
  const state = () =>
    db.rows(sql`
      select o.xmin::text, o.ctid::text, m.generation from offer o join merchant m using (merch_id)
      where merch_id = ${merchId} order by o.ctid
    `)
  const before = await state()
  assert.deepEqual(counts(await load(feed)), [0, 0, 2])
  assert.deepEqual(await state(), before)
})

test('an offer that returns after it was retired is new', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row('a') + row('b'))
  await load(HEADER + row('a'))
  assert.deepEqual(counts(await load(HEADER + row('a') + row('b'))), [1, 0, 1])
  assert.deepEqual(Object.keys(await prices(merchId)), ['a', 'b'])
})

test('every column is stored as the feed says it, also where a backslash or a quote is in it', async () => {
  const { merchId, domain, load } = await shop()
  const link = `https://www.${domain}/thé?q=1&utm_source=feed`
  const header =
    'id,title,link,price,gtin,brand,mpn,image_link,availability,google_product_category,' +
    'description,colour,Sizes,item_group_id'
  const row = `a\\N,"Tea ""best"" \\. \\t",${link},1.5 USD,5449000010940,B\\x,,https://i.example/1,out of stock,422,Best \\N,,XL,g`
  await load(`${header}\n${row}\n`)
  const [offer] = await db.rows<Record<string, unknown>>(
    sql`select * from current_offer where merch_id = ${merchId}`,
  )
  const { offer_id, imported_at, content_hash, ...rest } = offer ?? {}
  assert.deepEqual(rest, {
    from_generation: 1,
    to_generation: null,
    merch_id: merchId,
    sku: 'a\\N',
    product_id: '5449000010940',
    gtin14: '5449000010940',
    gtin_text: '5449000010940',
    title: 'Tea "best" \\. \\t',
    brand: 'B\\x',
    mpn: null,
    url: `https://www.${domain}/th%C3%A9?q=1&utm_source=feed`,
    url_key: urlKey(`http://${domain}/thé?q=1`),
    image_url: 'https://i.example/1',
    price_micros: '1500000',
    is_in_stock: false,
    category_id: 422,
    regular_price_micros: null,
    description: 'Best \\N',
    color: null,
    size: 'XL',
    item_group_id: 'g',
  })
})

test('a sale keeps the regular price, and begins and ends as a change', async () => {
  const { merchId, domain, load } = await shop()
  const feed = (salePrice: string) =>
    `id,title,link,price,sale_price\na,Tea,https://${domain}/a,100 USD,${salePrice}\n`
  const stored = () =>
    db.row(sql`
      select price_micros, regular_price_micros from current_offer where merch_id = ${merchId}`)
  const usual = { price_micros: '100000000', regular_price_micros: null }
  await load(feed(''))
  assert.deepEqual(await stored(), usual)
  assert.deepEqual(counts(await load(feed('80 USD'))), [1, 0, 0])
  const sale = { price_micros: '80000000', regular_price_micros: '100000000' }
  assert.deepEqual(await stored(), sale)
  assert.deepEqual(counts(await load(feed('80 USD'))), [0, 0, 1])
  assert.deepEqual(counts(await load(feed(''))), [1, 0, 0])
  assert.deepEqual(await stored(), usual)
})

test('a change of a column for product feeds is a change of the offer too', async () => {
  const { domain, load } = await shop()
  const feed = (description: string) =>
    `id,title,link,price,description\na,Tea,https://${domain}/a,1 USD,${description}\n`
  assert.deepEqual(counts(await load(feed(''))), [1, 0, 0])
  assert.deepEqual(counts(await load(feed('Best'))), [1, 0, 0])
  assert.deepEqual(counts(await load(feed('Best'))), [0, 0, 1])
  assert.deepEqual(counts(await load(feed('Better'))), [1, 0, 0])
})

test('counts and reports a rejected row with its line, reason and content', async () => {
  const { domain, row, load } = await shop()
  const rejects: RejectedRow[] = []
  const feed = `${HEADER}${row('a')}${row('', '1 USD')}${row('c', 'free')}d,"x"y",,,,\n${row('a')}`
  const result = await load(feed, { onRejects: (rows) => void rejects.push(...rows) })
  const reasons = { id_missing: 1, price_unparsable: 1, row_malformed: 1, duplicate_id: 1 }
  assert.deepEqual([result.rows, result.rejected], [5, reasons])
  assert.deepEqual(
    rejects.map(({ line, reason }) => [line, reason]),
    [
      [3, 'id_missing'],
      [4, 'price_unparsable'],
      [5, 'row_malformed'],
      [6, 'duplicate_id'],
    ],
  )
  const [first, , malformed] = rejects
  assert.ok(typeof first?.row === 'object' && first.row.link === `https://www.${domain}/p/`)
  assert.equal(malformed?.row, 'd,"x"y",,,,')
})

test('a feed cut off at its end upserts its whole rows, retires nothing, and says so', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row('a') + row('b') + row('c'))
  const cut = await load(`${HEADER}${row('a', '9 USD')}${row('n')}c,"Tea c`)
  assert.deepEqual([counts(cut), cut.truncated], [[2, 0, 0], true])
  assert.deepEqual(cut.rejected, { row_truncated: 1 })
  assert.deepEqual(await prices(merchId), { a: 9, b: 4.2, c: 4.2, n: 4.2 })
  // A cut archive says so even where the cut falls between two rows.
  const lines = Array.from({ length: 5_000 }, (_, index) => row(index)).join('')
  const packed = gzipSync(HEADER + lines)
  const half = await load(packed.subarray(0, packed.length / 2))
  assert.deepEqual([half.truncated, half.offers_removed], [true, 0])
})

test('a feed without a row, or without one good row, retires nothing', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row('a'))
  await assert.rejects(load(HEADER), /the feed has no rows; nothing was changed/)
  const foreign = await load(`${HEADER}a,Tea,https://other.example/a,1 USD,,\n`)
  assert.deepEqual([counts(foreign), foreign.rejected], [[0, 0, 0], { link_foreign_host: 1 }])
  assert.deepEqual(await prices(merchId), { a: 4.2 })
})

test('offers are young again by each import with a good row, and by no other', async () => {
  const { row, load, merchId } = await shop()
  for (const [feed, isYoung] of [
    [row('a'), true],
    [row('a'), true],
    [row('a', 'free'), false],
  ] as const) {
    await db.run(sql`update merchant set feed_imported_at = 'epoch' where merch_id = ${merchId}`)
    await load(HEADER + feed)
    const [shown] = await db.rows<{ imported_at: Date }>(sql`
      select feed_imported_at as imported_at from merchant where merch_id = ${merchId}`)
    assert.equal((shown?.imported_at.getTime() ?? 0) > 0, isYoung, feed)
  }
})

test('readers see the old offers until the import has ended, then all of the new ones', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row('a') + row('b'))
  const rows = Array.from({ length: MANY_CHUNKS }, (_, index) => row(index)).join('')
  const during: Record<string, number>[] = []
  const feed = `${HEADER}${row('a', '9 USD')}${rows}${row('')}`
  const result = await load(feed, {
    onRejects: async () => {
      assert.ok((await versions(merchId)) > 2, 'chunks are committed by now')
      during.push(await prices(merchId))
    },
  })
  assert.deepEqual(during, [{ a: 4.2, b: 4.2 }])
  assert.deepEqual(counts(result), [MANY_CHUNKS + 1, 1, 0])
  const seen = await prices(merchId)
  assert.deepEqual(
    [Object.keys(seen).length, seen.a, seen.b],
    [result.offers_upserted, 9, undefined],
  )
})

test('a feed that is not read in the time that it is given is given up, and changes nothing', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row(1))
  await assert.rejects(load(HEADER + row(2), { readMsMax: 0 }), /took too long and was aborted/)
  assert.deepEqual(await prices(merchId), { 1: 4.2 })
  assert.deepEqual(counts(await load(HEADER + row(2), { readMsMax: 3_600_000 })), [1, 1, 0])
})

test('an import that fails on the way changes nothing, and the next one cleans up after it', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row('a') + row('b') + row('c'))
  const before = await current(merchId)
  const rows = Array.from({ length: MANY_CHUNKS }, (_, index) => row(index)).join('')
  const feed = `${HEADER}${row('a', '9 USD')}${row('b', '9 USD')}${rows}${row('')}`
  const broken = new Error('the disk is full')
  await assert.rejects(load(feed, { onRejects: () => Promise.reject(broken) }), broken)
  assert.deepEqual(await current(merchId), before)
  assert.ok((await versions(merchId)) > 3, 'a chunk was committed')

  const next = await load(HEADER + row('a') + row('b', '5 USD'))
  assert.deepEqual(counts(next), [1, 1, 1])
  assert.deepEqual(await prices(merchId), { a: 4.2, b: 5 })
  assert.equal(await versions(merchId), 2)
})

test('versions that an import could not delete after its switch go with the next one', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row('a') + row('b'))
  // As a crash right after the switch leaves them.
  await db.run(sql`insert into feed_import (merch_id) values (${merchId})`)
  await db.run(sql`
    insert into offer (merch_id, from_generation, to_generation, sku, title, url, url_key,
      price_micros, is_in_stock, content_hash)
    values (${merchId}, 0, 1, 'old', 'Old', 'https://x', '\\x00', 1, true, '\\x0000000000000000')
  `)
  assert.equal(await versions(merchId), 3)
  assert.deepEqual(counts(await load(HEADER + row('a') + row('b'))), [0, 0, 2])
  assert.equal(await versions(merchId), 2)
})

test('a second import of the same merchant is refused while the first one runs', async () => {
  const { merchId, row, load } = await shop()
  const other = await shop()
  let refused: unknown = null
  await load(HEADER + row('a') + row(''), {
    onRejects: async () => {
      await assert.rejects(load(HEADER + row('z')), (error: Error) => {
        refused = error.message
        return true
      })
      await other.load(HEADER + other.row('b')) // Another merchant's feed is not held up.
    },
  })
  assert.equal(refused, `a feed of merchant ${merchId} is being imported; try again later`)
  assert.deepEqual(Object.keys(await prices(merchId)), ['a'])
  assert.deepEqual(counts(await load(HEADER + row('a'))), [0, 0, 1], 'the lock is free again')
})

test('prices without a currency are in the one that most rows of the feed name', async () => {
  const { merchId, row, load } = await shop()
  const dollars = await load(HEADER + row('a', '5.00') + row('b', '6 USD') + row('c', '7 EUR'))
  assert.deepEqual(dollars.rejected, { currency_other: 1 })
  assert.deepEqual(await prices(merchId), { a: 5, b: 6 })
  const euros = await load(HEADER + row('a', '5.00') + row('b', '6 EUR') + row('c', '7 EUR'))
  assert.deepEqual(euros.rejected, { currency_other: 3 })
  const silent = await load(HEADER + row('a', '5.00'))
  assert.deepEqual([silent.rejected, await prices(merchId)], [{}, { a: 5 }])
})

test('an unknown merchant is refused, and progress ends at the whole feed', async () => {
  const { row, load } = await shop()
  await assert.rejects(load(HEADER + row('a'), { merchId: 999_999 }), /no merchant 999999/)
  const shown: number[][] = []
  await load(HEADER + row('a') + row('b'), {
    onProgress: ({ rows, bytes, totalBytes }) => void shown.push([rows, bytes - totalBytes]),
  })
  assert.deepEqual(shown.at(-1), [2, 0])
})

test('any sequence of feeds, cut and failing ones among them, leaves what a plain map would', async () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const feed = fc.record({
    rows: fc.array(fc.tuple(id, fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 8 }),
    end: fc.constantFrom('whole', 'whole', 'whole', 'cut', 'fails'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(feed, { maxLength: 6 }), async (feeds) => {
      const { merchId, row, load } = await shop()
      let model = new Map<string, number>()
      for (const { rows, end } of feeds) {
        // The first good row of an id counts; a price of 0 is no good row.
        const good = new Map(rows.filter(([, price]) => price > 0).toReversed())
        const text = HEADER + rows.map(([sku, price]) => row(sku, `${price} USD`)).join('')
        if (end === 'fails') {
          // The rejected last row is where it fails.
          const onRejects = () => Promise.reject(new Error('stop'))
          await assert.rejects(load(text + row(''), { onRejects, chunkRows: 1 }), /stop/)
        } else {
          const isKept = end === 'cut' || good.size === 0
          const expected = new Map(isKept ? [...model, ...good] : good)
          const feed = end === 'cut' ? `${text}x,"y` : text
          const result = await load(feed, { chunkRows: 2 })
          const upserted = [...good].filter(([sku, price]) => model.get(sku) !== price).length
          const removed = [...model.keys()].filter((sku) => !expected.has(sku)).length
          assert.deepEqual(counts(result), [upserted, removed, good.size - upserted])
          model = expected
        }
        assert.deepEqual(await prices(merchId), Object.fromEntries([...model].sort()))
        if (end !== 'fails') assert.equal(await versions(merchId), model.size)
      }
    }),
    { numRuns: 30 },
  )
})

test('an import holds one lock for each of its connections, and the next waits for all', async () => {
  const { merchId, row, load } = await shop()
  const writer = await db.reserve()
  try {
    // As the second connection of a killed import, whose last chunk is not over.
    assert.ok(await lockMerchantFeed(writer, { merchId, writer: 1 }))
    await assert.rejects(load(HEADER + row('a')), /is being imported; try again later/)
    await unlockMerchantFeed(writer, { merchId, writer: 1 })
    assert.deepEqual(counts(await load(HEADER + row('a'))), [1, 0, 0])
  } finally {
    writer.release()
  }
})

test('an unreadable row keeps its own offer when its id is certain, and every offer otherwise', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row('a') + row('b') + row('c'))
  const link = (sku: string) => row(sku).split(',')[2]
  const known = await load(`${HEADER}${row('a')}b,"The "best"",${link('b')},1 USD,,\n`)
  assert.deepEqual([counts(known), known.read_whole], [[0, 1, 1], true])
  assert.deepEqual(Object.keys(await prices(merchId)), ['a', 'b'])
  const unknown = await load(`${HEADER}${row('a')}x,y\n`)
  assert.deepEqual([counts(unknown), unknown.read_whole], [[0, 0, 1], false])
  assert.deepEqual(Object.keys(await prices(merchId)), ['a', 'b'])
})

test('a row rejected for a value retires its old offer', async () => {
  const { merchId, row, load } = await shop()
  await load(HEADER + row('a') + row('b'))
  const result = await load(HEADER + row('a') + row('b', 'free'))
  assert.deepEqual([counts(result), result.read_whole], [[0, 1, 1], true])
  assert.deepEqual(Object.keys(await prices(merchId)), ['a'])
})

test('reads a price without a currency in the import’s, the merchant’s or the feed’s currency, else in dollars', async () => {
  const { merchId, row, load } = await shop()
  const toDollars = (amount: string, currency: string) =>
    micros(
      Math.round(Number(amount) * ({ EUR: 1.1, GBP: 1.3, CAD: 0.7, USD: 1 }[currency] ?? 0) * 1e6),
    )
  const price = async (feed: string, currency?: string) => {
    const result = await load(HEADER + feed, { toDollars, ...(currency && { currency }) })
    return [(await prices(merchId)).a, result.noted]
  }
  const bare = row('a', '10.00')
  assert.deepEqual(await price(bare), [10, { currency_assumed: { USD: 1 } }])
  const mixed = bare + row('b', '1 EUR')
  assert.deepEqual(await price(mixed), [11, { currency_assumed: { EUR: 1 } }])
  await db.run(sql`update merchant set default_currency = 'GBP' where merch_id = ${merchId}`)
  assert.deepEqual(await price(bare), [13, {}])
  assert.deepEqual(await price(mixed), [13, {}], 'the operator is surer than other rows')
  assert.deepEqual(await price(mixed, 'EUR'), [11, {}])
  await db.run(sql`update merchant set default_currency = 'CAD' where merch_id = ${merchId}`)
  assert.deepEqual(await price(row('a', '$10.00')), [7, {}], 'a sign of several currencies')
})

test('names at most fifty unknown words for stock, with their counts', async () => {
  const { domain, load } = await shop()
  const row = (sku: number, word: string) => `${sku},Tea,https://${domain}/${sku},1 USD,,${word}\n`
  const feed = Array.from({ length: 60 }, (_, at) => row(at, `word${at}`)).join('')
  const { notes, noted } = await load(HEADER + feed + row(60, 'Flurble') + row(61, 'word1'))
  assert.equal(notes.availability_unknown, 62)
  assert.deepEqual([noted.availability_unknown?.word1, noted.availability_unknown?.others], [2, 11])
})
