/** The importer against feeds made over real barcodes, with planted faults and exact counts. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { testDatabase } from '../../../test/support/database.ts'
import { kitPath } from '../../../test/support/shared-data.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { urlKey } from '../../platform/net/url.ts'
import type { Database } from '../../platform/postgres/postgres.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { MERCHANT_DEFAULTS } from '../merchant.ts'
import { insertMerchant } from '../merchant-store.ts'
import { openFeedFile } from './feed-file.ts'
import { importFeed } from './import-feed.ts'
import type { ImportResult } from './import-result.ts'

interface TruthRow {
  merchant: string
  id: string
  class: string
  accepted: boolean
  gtin_kind: string
  gtin14: string | null
  title: string
  currency: string
  price_minor: number
  sale_minor: number | null
  availability: string
  clean_link: string
}

interface TruthMerchant {
  id: string
  name: string
  domains: string[]
  file: string
  cut_at_eof: boolean
  rows_total: number
  rejects: Record<string, number>
}

interface Cluster {
  kind: 'normal' | 'restricted'
  joined?: string[]
  same_product_without_usable_gtin?: string[]
  different_products?: string[]
}

interface Feeds {
  folder: string
  merchants: TruthMerchant[]
  rows: Map<string, TruthRow[]>
  clusters: Cluster[]
}

interface StoredOffer {
  sku: string
  title: string
  minor: string
  is_in_stock: boolean
  gtin14: string | null
  product_id: string
  url_key: Buffer
}

// A sixth of the kit's default size: 25,000 rows with every fault in every format.
const PRODUCTS = 8_000

async function makeFeeds(t: TestContext, generator: string, generation: number): Promise<Feeds> {
  const folder = await temporaryFolder(t, 'souk-test-feeds-')
  const size = ['--products', String(PRODUCTS), '--generation', String(generation)]
  await promisify(execFile)(process.execPath, [generator, '--out', folder, ...size])
  const lines = async <T>(file: string) =>
    gunzipSync(await readFile(join(folder, file)))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as T)
  const { merchants } = JSON.parse(await readFile(join(folder, 'truth.json'), 'utf8'))
  const rows = Map.groupBy(await lines<TruthRow>('truth-rows.jsonl.gz'), (row) => row.merchant)
  return { folder, merchants, rows, clusters: await lines<Cluster>('truth-clusters.jsonl.gz') }
}

/** Rows that become offers while there are no exchange rates, and the reasons of all others. */
function expectedOf(merchant: TruthMerchant, rows: readonly TruthRow[]) {
  const offers = new Map<string, TruthRow>()
  const rejected: Record<string, number> = {}
  const { row_truncated: cutRows = 0 } = merchant.rejects
  if (cutRows > 0) rejected.row_truncated = cutRows
  for (const row of rows) {
    if (row.accepted && row.currency === 'USD') offers.set(row.id, row)
    else {
      const isPriced = row.accepted || row.class === 'duplicate_id'
      const reason = isPriced && row.currency !== 'USD' ? 'currency_other' : row.class
      rejected[reason] = (rejected[reason] ?? 0) + 1
    }
  }
  return { offers, rejected }
}

function asStored(row: TruthRow): Omit<StoredOffer, 'product_id'> {
  const isUsable = ['valid', 'formatted', 'lost_zero'].includes(row.gtin_kind)
  return {
    sku: row.id,
    title: row.title,
    minor: String(row.sale_minor ?? row.price_minor),
    is_in_stock: row.availability === 'in',
    gtin14: isUsable ? String(Number(row.gtin14)) : null,
    url_key: urlKey(row.clean_link) ?? assert.fail(row.clean_link),
  }
}

function storedOffers(db: Database, merchId: number): Promise<StoredOffer[]> {
  return db.rows<StoredOffer>(sql`
    select sku, title, (price_micros / 10000)::text as minor, is_in_stock, gtin14, product_id,
      url_key
    from current_offer where merch_id = ${merchId}
  `)
}

async function load(db: Database, path: string, merchId: number): Promise<ImportResult> {
  const file = await openFeedFile(path)
  return importFeed(db, { merchId, file, format: 'auto', at: new Date(), seed: 1 })
}

async function insertMerchants(db: Database, merchants: readonly TruthMerchant[]) {
  const ids = new Map<string, number>()
  for (const { id, name, domains } of merchants) {
    const { merch_id } = await insertMerchant(db, { ...MERCHANT_DEFAULTS, name, domains })
    ids.set(id, merch_id)
  }
  return (id: string) => ids.get(id) ?? assert.fail(id)
}

/** Compares as sets by sku; the messages name what differs. */
function assertSameOffers(
  found: readonly StoredOffer[],
  expected: readonly TruthRow[],
  what: string,
) {
  const bySku = new Map(found.map(({ product_id, ...offer }) => [offer.sku, offer]))
  assert.equal(bySku.size, expected.length, what)
  for (const row of expected) assert.deepEqual(bySku.get(row.id), asStored(row), what)
}

test("feeds over real barcodes (../shared/data) give their truth's counts, offers and clusters, twice", async (t) => {
  const generator = kitPath(t, 'make-feeds.mjs')
  if (generator === null) return
  const db = await testDatabase(t)
  const first = await makeFeeds(t, generator, 1)
  const merchIdOf = await insertMerchants(db, first.merchants)
  const before = new Map<string, Map<string, TruthRow>>()

  for (const merchant of first.merchants) {
    const { offers, rejected } = expectedOf(merchant, first.rows.get(merchant.id) ?? [])
    const result = await load(db, join(first.folder, merchant.file), merchIdOf(merchant.id))
    assert.deepEqual(
      [result.rows, result.offers_upserted, result.rejected, result.truncated],
      [merchant.rows_total, offers.size, rejected, merchant.cut_at_eof],
      merchant.file,
    )
    const stored = await storedOffers(db, merchIdOf(merchant.id))
    assertSameOffers(stored, [...offers.values()], merchant.file)
    before.set(merchant.id, offers)
  }
  await assertClusters(db, first, merchIdOf)

  const second = await makeFeeds(t, generator, 2)
  for (const merchant of second.merchants) {
    const { offers } = expectedOf(merchant, second.rows.get(merchant.id) ?? [])
    const old = before.get(merchant.id) ?? new Map()
    const vanished = [...old.keys()].filter((sku) => !offers.has(sku))
    const isKept = merchant.cut_at_eof || offers.size === 0
    const result = await load(db, join(second.folder, merchant.file), merchIdOf(merchant.id))
    assert.equal(result.offers_removed, isKept ? 0 : vanished.length, merchant.file)
    assert.equal(result.offers_upserted + result.offers_unchanged, offers.size, merchant.file)
    const expected = isKept ? new Map([...old, ...offers]) : offers
    const stored = await storedOffers(db, merchIdOf(merchant.id))
    assertSameOffers(stored, [...expected.values()], `${merchant.file}, generation 2`)
  }
})

async function assertClusters(db: Database, feeds: Feeds, merchIdOf: (id: string) => number) {
  const products = new Map<string, string>()
  for (const { id } of feeds.merchants) {
    for (const { sku, product_id } of await storedOffers(db, merchIdOf(id))) {
      products.set(`${id}:${sku}`, product_id)
    }
  }
  const sizes = Map.groupBy(products.values(), (productId) => productId)
  let joined = 0
  for (const cluster of feeds.clusters) {
    const of = (offers: readonly string[] = []) =>
      offers.flatMap((offer) => products.get(offer) ?? [])
    const [one, ...others] = of(cluster.joined)
    if (one !== undefined) {
      joined += others.length
      for (const other of others) assert.equal(other, one)
      assert.equal(sizes.get(one)?.length, others.length + 1, 'nothing else joins the cluster')
    }
    const alone = of(cluster.different_products ?? cluster.same_product_without_usable_gtin)
    for (const productId of alone) assert.equal(sizes.get(productId)?.length, 1)
  }
  assert.ok(joined > 5_000, `${joined} offers joined another one`)
}
