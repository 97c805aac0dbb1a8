/**
 * Generates a publisher's statistics as if folded from a given number of events.
 *
 * The generator plays a small part of the traffic. Its shares by article and link are then spread
 * over all days, with a hash rounding fractions up or down so that days differ.
 */
import { createReadStream, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { createApiKey, createUser } from '../src/accounts/create-account.ts'
import { PUBLISHER_DEFAULTS } from '../src/accounts/publisher.ts'
import { insertPublisher } from '../src/accounts/publisher-store.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { insertMerchant } from '../src/catalog/merchant-store.ts'
import { keyOfUrl } from '../src/platform/net/url.ts'
import type { Db } from '../src/platform/postgres/postgres.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import type { Action } from '../test/support/traffic-replay.ts'
import type { WorldFile } from '../test/support/traffic-world.ts'
import { openDatabaseOf } from './database.ts'
import { makeTraffic } from './make-traffic.ts'

const SAMPLE_SESSIONS = 5_000
const DAY_FROM = '2026-03-02'
const VIEWED_SHARE = 0.4 // of link impressions, in the viewport

export interface MadeStatistics {
  readonly pubId: number
  readonly key: string
  readonly dayFrom: string
  readonly dayTo: string
  readonly rows: number
  readonly events: number
}

/** The sample's share of one article, or of one merchant's links in it. */
interface Share {
  readonly article: number // its index in the world
  readonly merchant: number // 0: page impressions of the article
  views: number
  placements: number
  clicks: number
  sales: number
  revenueMicros: number
}

/** Writes daily rows into the database of the service that runs on SOUK_DATA. */
export async function makeStatistics(
  dataDir: string,
  size: { readonly events: number; readonly days: number },
): Promise<MadeStatistics> {
  const sample = await readSample(size.days)
  await using stack = new AsyncDisposableStack()
  const db = await openDatabaseOf(stack, dataDir)
  const world = await insertWorld(db, sample.world)
  const scale = size.events / sample.events
  await insertPageDays(db, world, { ...sample, ...size, scale })
  await insertStatsDays(db, world, { ...sample, ...size, scale })
  await db.run(sql`vacuum analyze stats_day`)
  await db.run(sql`vacuum analyze page_day`)
  await db.run(sql`vacuum analyze article`)
  const counted = await db.row<{ rows: string; day_to: string }>(sql`
    select count(*) as rows, max(day) as day_to from stats_day`)
  const { pubId, key } = world
  const dayTo = counted?.day_to ?? DAY_FROM
  const rows = Number(counted?.rows)
  return { pubId, key, dayFrom: DAY_FROM, dayTo, rows, events: size.events }
}

async function readSample(days: number) {
  const folder = await mkdtemp(join(tmpdir(), 'souk-traffic-'))
  try {
    const options = ['--publishers', '1', '--days', String(days)]
    const sessions = ['--sessions', String(SAMPLE_SESSIONS)]
    makeTraffic(folder, [...options, ...sessions])
    const world = JSON.parse(readFileSync(join(folder, 'world.json'), 'utf8')) as Sampled
    const lines = createInterface({
      input: createReadStream(join(folder, 'traffic.jsonl.gz')).pipe(createGunzip()),
    })
    const counted = new SampleCount(world)
    for await (const line of lines) counted.add(JSON.parse(line) as Action)
    return { world, events: counted.events, shares: [...counted.shares.values()] }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Link = WorldFile['links'][number] & { readonly merchant: string }
type Sampled = Omit<WorldFile, 'links'> & { readonly links: readonly Link[] }

class SampleCount {
  readonly shares = new Map<string, Share>()
  events = 0
  readonly #articles: ReadonlyMap<string, number>
  readonly #links: ReadonlyMap<string, { readonly article: number; readonly merchant: number }>
  readonly #clicked = new Map<number, string>()

  constructor({ articles, merchants, links }: Sampled) {
    this.#articles = new Map(articles.map(({ url }, index) => [url, index]))
    const places = new Map(articles.map(({ id }, index) => [id, index]))
    const sellers = new Map(merchants.map(({ id }, index) => [id, index + 1]))
    this.#links = new Map(
      links.map(({ id, article, merchant }) => [
        id,
        { article: places.get(article) ?? 0, merchant: sellers.get(merchant) ?? 0 },
      ]),
    )
  }

  add(action: Action): void {
    switch (action.type) {
      case 'page_view':
        this.#share({ article: this.#articles.get(action.url ?? '') ?? 0, merchant: 0 }).views += 1
        this.events += 1
        return
      case 'auction': {
        this.#ofLink(action.link).placements += 1
        this.events += 1 + (1 + VIEWED_SHARE) * (action.occurrences ?? 0)
        return
      }
      case 'click':
        this.#clicked.set(action.seq, action.link ?? '')
        this.#ofLink(action.link).clicks += 1
        this.events += 1
        return
      case 'order': {
        const share = this.#ofLink(this.#clicked.get(action.click ?? 0))
        share.sales += 1
        share.revenueMicros += (action.total_minor ?? 0) * 10_000
        this.events += 1
        return
      }
      case 'return':
        this.events += 1
    }
  }

  #ofLink(link: string | undefined): Share {
    return this.#share(this.#links.get(link ?? '') ?? { article: 0, merchant: 1 })
  }

  #share(of: { readonly article: number; readonly merchant: number }): Share {
    const key = `${of.article} ${of.merchant}`
    const known = this.shares.get(key)
    if (known !== undefined) return known
    const share = { ...of, views: 0, placements: 0, clicks: 0, sales: 0, revenueMicros: 0 }
    this.shares.set(key, share)
    return share
  }
}

interface InsertedWorld {
  readonly pubId: number
  readonly key: string
  readonly articleIds: readonly number[]
  readonly urlKeys: readonly Buffer[]
  readonly merchIds: readonly number[]
}

async function insertWorld(db: Db, file: WorldFile): Promise<InsertedWorld> {
  const account = { email: 'bench@souk.example', password: 'bench bench', isAdmin: false }
  const { uid } = await createUser(db, account)
  const [named] = file.publishers
  const settings = { ...PUBLISHER_DEFAULTS, uid, name: named?.name ?? '', slug: named?.slug ?? '' }
  const { pub_id: pubId } = await insertPublisher(db, settings)
  const wanted = { uid, description: 'bench', expiresAt: null, now: new Date() }
  const { key } = await createApiKey(db, wanted)
  const merchIds: number[] = []
  for (const { name, domains } of file.merchants) {
    merchIds.push((await insertMerchant(db, { ...MERCHANT_DEFAULTS, name, domains })).merch_id)
  }
  const urls = file.articles.map(({ url }) => url)
  const urlKeys = urls.map((url) => keyOfUrl(new URL(url)))
  const articles = await db.rows<{ article_id: number }>(sql`
    insert into article (pub_id, uid, url, url_key, name, datetime_created)
    select ${pubId}, ${uid}, url, url_key, name, '2026-01-01' from unnest(
      ${urls}::text[], ${urlKeys}::bytea[], ${file.articles.map(({ name }) => name)}::text[]
    ) with ordinality as article (url, url_key, name, place)
    order by place
    returning article_id`)
  return { pubId, key, merchIds, urlKeys, articleIds: articles.map(({ article_id: id }) => id) }
}

interface Spread {
  readonly shares: readonly Share[]
  readonly scale: number
  readonly days: number
}

/** A share of one day: its whole part, plus one on as many days as the fraction requires. */
const spreadFunction = sql`
  create or replace function pg_temp.of_day(amount numeric, salt text, day int)
  returns bigint language sql immutable as $$
    select floor(amount + (hashtext(salt || ' ' || day) & 65535) / 65536.0)::bigint
  $$`

async function insertPageDays(db: Db, world: InsertedWorld, spread: Spread): Promise<void> {
  const { days } = spread
  const shares = spread.shares.filter(({ merchant }) => merchant === 0)
  const perDay = spread.scale / days
  await db.transaction(async (tx) => {
    await tx.run(spreadFunction)
    await tx.run(sql`
      insert into page_day (pub_id, url_key, day, impressions)
      select ${world.pubId}, url_key, ${DAY_FROM}::date + n,
        pg_temp.of_day(views, encode(url_key, 'hex'), n)
      from unnest(
        ${shares.map(({ article }) => world.urlKeys[article])}::bytea[],
        ${shares.map(({ views }) => views * perDay)}::float[]::numeric[]
      ) as share (url_key, views)
      cross join generate_series(0, ${days - 1}::int) as n`)
  })
}

async function insertStatsDays(db: Db, world: InsertedWorld, spread: Spread): Promise<void> {
  const { days } = spread
  const shares = spread.shares.filter(({ merchant }) => merchant > 0)
  const perDay = spread.scale / days
  const column = (read: (share: Share) => number) => shares.map((share) => read(share) * perDay)
  await db.transaction(async (tx) => {
    await tx.run(spreadFunction)
    await tx.run(sql`
      insert into stats_day (day, pub_id, article_id, merch_id, clicks, placements, sales,
        revenue_micros, earnings_micros)
      select ${DAY_FROM}::date + n, ${world.pubId}, article_id, merch_id,
        pg_temp.of_day(clicks, 'clicks' || place, n), pg_temp.of_day(placements, 'seen' || place, n),
        pg_temp.of_day(sales, 'sales' || place, n), pg_temp.of_day(revenue, 'sales' || place, n),
        pg_temp.of_day(clicks, 'clicks' || place, n) * 225000
      from unnest(
        ${shares.map(({ article }) => world.articleIds[article])}::int[],
        ${shares.map(({ merchant }) => world.merchIds[merchant - 1])}::int[],
        ${column(({ clicks }) => clicks)}::float[]::numeric[],
        ${column(({ placements }) => placements)}::float[]::numeric[],
        ${column(({ sales }) => sales)}::float[]::numeric[],
        ${column(({ revenueMicros }) => revenueMicros)}::float[]::numeric[]
      ) with ordinality
        as share (article_id, merch_id, clicks, placements, sales, revenue, place)
      cross join generate_series(0, ${days - 1}::int) as n`)
  })
}
