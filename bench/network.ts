/** A network for benchmarks: one publisher, many links, and products that five merchants sell. */
import { createHash } from 'node:crypto'
import { createUser } from '../src/accounts/create-account.ts'
import { PUBLISHER_DEFAULTS } from '../src/accounts/publisher.ts'
import { insertPublisher } from '../src/accounts/publisher-store.ts'
import { withCheckDigit } from '../src/catalog/gtin.ts'
import { makeIdSource } from '../src/platform/ids.ts'
import { micros } from '../src/platform/money/money.ts'
import { keyOfUrl } from '../src/platform/net/url.ts'
import type { Database } from '../src/platform/postgres/postgres.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { makeCampaign, makeMerchant } from '../test/support/catalogue.ts'

const MERCHANTS = 5
const PRODUCTS = 2_000
/** Outside the range of node numbers, so that ids never collide. */
const BENCH_NODE = 1023

export interface BenchNetwork {
  readonly pubId: number
  readonly links: readonly string[] // auction ids
}

export async function makeBenchNetwork(db: Database, count: number): Promise<BenchNetwork> {
  const account = { email: 'bench@souk.example', password: 'bench bench', isAdmin: false }
  const { uid } = await createUser(db, account)
  const settings = { ...PUBLISHER_DEFAULTS, uid, name: 'Bench', slug: 'bench' }
  const { pub_id: pubId } = await insertPublisher(db, settings)
  for (let m = 0; m < MERCHANTS; m++) {
    const offers = Array.from({ length: PRODUCTS }, (_, product) => ({
      id: `p${product}`,
      link: `https://shop${m}.example/p/${product}`,
      price: `${(50 + (product % 40) + m * 0.5).toFixed(2)} USD`,
      gtin: gtin(product),
    }))
    const domain = `shop${m}.example`
    const { merchId } = await makeMerchant(db, { name: `Shop ${m}`, domain, offers })
    await makeCampaign(db, merchId, {
      bid_micros: micros(400_000 + 50_000 * m),
      // Limited, so that each paid click uses a lease.
      daily_budget_micros: micros(500_000_000_000),
    })
  }
  return { pubId, links: await insertLinks(db, { pubId, uid, count }) }
}

async function insertLinks(
  db: Database,
  { pubId, uid, count }: { pubId: number; uid: number; count: number },
): Promise<string[]> {
  const articleUrl = new URL('https://bench.example/a')
  const article = await db.row<{ article_id: number }>(sql`
    insert into article (pub_id, uid, url, url_key, name)
    values (${pubId}, ${uid}, ${articleUrl.href}, ${keyOfUrl(articleUrl)}, 'Bench')
    returning article_id`)
  const ids = makeIdSource({ nodeId: BENCH_NODE, now: Date.now })
  const links = Array.from({ length: count }, (_, at) => ({
    id: ids.next(),
    url: `https://shop${at % MERCHANTS}.example/p/${at % PRODUCTS}`,
  }))
  await db.run(sql`
    insert into smart_link (auction_id, pub_id, article_id, url, url_hash, source)
    select id, ${pubId}, ${article?.article_id ?? 0}, url, hash, 'api' from unnest(
      ${links.map(({ id }) => id)}::bigint[],
      ${links.map(({ url }) => url)}::text[],
      ${links.map(({ url }) => createHash('sha256').update(url).digest())}::bytea[]
    ) as link (id, url, hash)`)
  return links.map(({ id }) => id)
}

/** An example number (prefix 952) with its check digit. */
function gtin(number: number): string {
  return withCheckDigit(`9529${String(number).padStart(8, '0')}`)
}
