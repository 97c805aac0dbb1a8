/** Feeds that people reported to other projects, each with the result that it must give. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { kitPath } from '../../../test/support/shared-data.ts'
import type { Database } from '../../platform/postgres/postgres.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { MERCHANT_DEFAULTS } from '../merchant.ts'
import { insertMerchant } from '../merchant-store.ts'
import { openFeedFile } from './feed-file.ts'
import { importFeed, type RejectedRow } from './import-feed.ts'
import type { ImportResult } from './import-result.ts'

type BySku = Readonly<Record<string, unknown>>

interface Case {
  readonly file: string
  readonly what: string
  readonly expect: {
    readonly offers?: number
    readonly rejected?: number
    readonly removed?: number
    readonly offers_at_least?: readonly string[]
    readonly rejected_at_least?: number
    readonly titles?: BySku
    readonly links?: BySku
    readonly prices?: BySku
    readonly gtin?: BySku
    readonly size?: BySku
    readonly group?: BySku
    readonly in_stock?: BySku
    readonly image_url?: BySku
    readonly empty?: readonly string[]
    readonly note?: string
  }
}

interface Offer {
  readonly sku: string
  readonly title: string
  readonly url: string
  readonly price: string
  readonly gtin14: string | null
  readonly size: string | null
  readonly item_group_id: string | null
  readonly is_in_stock: boolean
  readonly image_url: string | null
  readonly brand: string | null
  readonly color: string | null
}

/** Where each expectation by SKU is stored. */
const COLUMN_OF: Readonly<Record<string, keyof Offer>> = {
  titles: 'title',
  links: 'url',
  prices: 'price',
  gtin: 'gtin14',
  size: 'size',
  group: 'item_group_id',
  in_stock: 'is_in_stock',
  image_url: 'image_url',
}

/** Expectations that are counts, or are checked by name. */
const OTHERS = ['offers', 'rejected', 'removed', 'offers_at_least', 'rejected_at_least', 'empty']
const EXPLAINED = ['note', 'why']

async function importFile(db: Database, path: string) {
  const settings = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: ['shop.example'] }
  await db.run(sql`delete from merchant_domain`)
  const { merch_id: merchId } = await insertMerchant(db, settings)
  const rejects: RejectedRow[] = []
  const result = await importFeed(db, {
    merchId,
    file: await openFeedFile(path),
    format: 'auto',
    at: new Date('2026-11-29T12:00:00Z'),
    seed: 1,
    onRejects: (rows) => void rejects.push(...rows),
  })
  const offers = await db.rows<Offer>(sql`
    select sku, title, url, gtin14, size, item_group_id, is_in_stock, image_url, brand, color,
      to_char(price_micros / 1e6, 'FM999990.00') as price
    from current_offer where merch_id = ${merchId}`)
  return { result, rejects, offers: new Map(offers.map((offer) => [offer.sku, offer])) }
}

function checkCounts({ expect }: Case, result: ImportResult, offers: ReadonlyMap<string, Offer>) {
  const rejected = Object.values(result.rejected).reduce((sum, count) => sum + count, 0)
  if (expect.offers !== undefined) assert.equal(offers.size, expect.offers)
  if (expect.rejected !== undefined) assert.equal(rejected, expect.rejected)
  if (expect.removed !== undefined) assert.equal(result.offers_removed, expect.removed)
  assert.ok(rejected >= (expect.rejected_at_least ?? 0))
  for (const sku of expect.offers_at_least ?? []) assert.ok(offers.has(sku), sku)
}

test('imports each reported feed as its case demands (needs ../shared/data/real-inputs)', async (t) => {
  const folder = kitPath(t, 'real-inputs')
  if (folder === null) return
  const cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as Case[]
  const feeds = cases.filter(({ file }) => file.startsWith('f'))
  assert.equal(feeds.length, 14)
  const db = await testDatabase(t)
  for (const one of feeds) {
    await t.test(`${one.file}: ${one.what}`, async () => {
      const { result, offers } = await importFile(db, join(folder, one.file))
      checkCounts(one, result, offers)
      for (const [name, expected] of Object.entries(one.expect)) {
        if (OTHERS.includes(name) || EXPLAINED.includes(name)) continue
        const column = COLUMN_OF[name] ?? assert.fail(`unknown expectation ${name}`)
        for (const [sku, value] of Object.entries(expected)) {
          assert.equal(offers.get(sku)?.[column], value, `${sku} ${name}`)
        }
      }
      for (const column of one.expect.empty ?? []) {
        for (const offer of offers.values())
          assert.equal(offer[column as keyof Offer], null, column)
      }
    })
  }
  const { result } = await importFile(db, join(folder, 'f08-no-currency.csv'))
  assert.deepEqual(result.noted, { currency_assumed: { USD: 1 } })
  const words = await importFile(db, join(folder, 'f13-words-for-stock.csv'))
  assert.deepEqual(words.result.noted, { availability_unknown: { flurble: 1 } })
  const { rejects } = await importFile(db, join(folder, 'f03-cdata-closed-wrongly.xml'))
  assert.deepEqual(
    rejects.map(({ line, reason, detail }) => [line, reason, detail]),
    [[3, 'row_malformed', 'a CDATA section is not closed']],
  )
})
