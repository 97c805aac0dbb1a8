/**
 * Measures the speed and memory of a feed import against a bare COPY of the same rows.
 *
 * `node bench/feed-import.ts [--rows 1000000] [--rounds 3]`. The baseline is one COPY of the
 * finished rows into a table with the same columns and no index. The import parses the feed,
 * validates and hashes every row, and fills the table with its five indexes in committed chunks.
 * Both alternate with fsync on; medians are shown. Exits 1 below the goal or above the memory
 * limit.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { openFeedFile } from '../src/catalog/feeds/feed-file.ts'
import { importFeed } from '../src/catalog/feeds/import-feed.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { insertMerchant } from '../src/catalog/merchant-store.ts'
import { type Connection, type Database, openDatabase } from '../src/platform/postgres/postgres.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { openBenchDatabase } from './database.ts'
import { median } from './median.ts'

const RATIO_GOAL = 0.25
const PEAK_MAX_MB = 512
const WORDS = 'amber basil cedar delta ember fjord grove heron iris juniper kelp linen'.split(' ')

interface Import {
  readonly seconds: number
  readonly upserted: number
  readonly peakMb: number
}

if (process.argv[2] === 'import') await importAsChild()
else await main()

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rows: { type: 'string' }, rounds: { type: 'string' } },
  })
  const rows = Number(values.rows ?? 1_000_000)
  const rounds = Number(values.rounds ?? 3)
  await using stack = new AsyncDisposableStack()
  const { dataDir, database: db } = await openBenchDatabase(stack)
  const feed = join(dataDir, 'feed.csv')
  await writeFeed(feed, rows)
  const work = { connection: db.connection, merchId: await makeMerchant(db), feed }
  const bare: number[] = []
  const imports: Import[] = []
  for (let round = 0; round < rounds; round++) {
    await db.run(sql`truncate offer`)
    imports.push(await importInChild(work))
    bare.push(await copyBare(db, join(dataDir, 'rows')))
  }
  const again = await importInChild(work)
  const { size } = await stat(feed)
  report({ rows, feedBytes: size, bare, imports, again })
}

function report(figures: {
  rows: number
  feedBytes: number
  bare: readonly number[]
  imports: readonly Import[]
  again: Import
}): void {
  const { rows, feedBytes, bare, imports, again } = figures
  const importSeconds = median(imports.map(({ seconds }) => seconds))
  const bareSeconds = median(bare)
  const ratio = bareSeconds / importSeconds
  const peakMb = Math.max(...[...imports, again].map((one) => one.peakMb))
  const perSecond = (seconds: number) => `${Math.round(rows / seconds).toLocaleString('en')} rows/s`
  const lines = [
    `feed import, ${rows.toLocaleString('en')} rows of CSV, ${(feedBytes / 1e6).toFixed(0)} MB`,
    `  import      ${importSeconds.toFixed(2)} s  ${perSecond(importSeconds)}`,
    `  bare COPY   ${bareSeconds.toFixed(2)} s  ${perSecond(bareSeconds)}`,
    `  ratio       ${ratio.toFixed(3)} (goal ${RATIO_GOAL})${ratio < RATIO_GOAL ? '  BELOW GOAL' : ''}`,
    `  same again  ${again.seconds.toFixed(2)} s  ${perSecond(again.seconds)}, ${again.upserted} upserted`,
    `  peak memory ${peakMb} MB (limit ${PEAK_MAX_MB})${peakMb > PEAK_MAX_MB ? '  ABOVE LIMIT' : ''}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  if (ratio < RATIO_GOAL || peakMb > PEAK_MAX_MB) process.exitCode = 1
}

async function makeMerchant(db: Database): Promise<number> {
  const merchant = await insertMerchant(db, {
    ...MERCHANT_DEFAULTS,
    name: 'Bench',
    domains: ['bench.example'],
  })
  return merchant.merch_id
}

/** Distinct offers with GTINs, tracking parameters, quoted cells and a few accents. */
async function writeFeed(path: string, rows: number): Promise<void> {
  const out = createWriteStream(path)
  let text =
    'id,title,description,link,image_link,price,sale_price,availability,brand,gtin,mpn,google_product_category\n'
  for (let row = 1; row <= rows; row++) {
    const word = (salt: number) => WORDS[(row * salt) % WORDS.length] ?? ''
    const name = `${word(5)} ${word(7)} crème, ${row % 900} g`
    const slug = `${word(5)}-${word(7)}-${row}`
    const gtin = gtin13(400_000_000_000 + ((row * 7_919) % 9_999_999_999))
    const cents = 100 + ((row * 37) % 90_000)
    const price = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')} USD`
    text += `SKU-${String(row).padStart(7, '0')},"${name}","${name}. Sold by Bench, shipped the same day."`
    text += `,https://www.bench.example/p/${slug}.html?utm_source=google&utm_medium=cpc`
    text += `,https://cdn.bench.example/img/${row % 9}/${slug}_800.jpg,${price},,in stock,${word(3)}`
    text += `,${gtin},MP-${row.toString(36)},422\n`
    if (text.length < 1 << 18) continue
    if (!out.write(text)) await once(out, 'drain')
    text = ''
  }
  out.end(text)
  await once(out, 'finish')
}

function gtin13(first12: number): string {
  const digits = String(first12).padStart(12, '0')
  let sum = 0
  for (let index = 0; index < 12; index++) sum += Number(digits[index]) * (index % 2 === 0 ? 1 : 3)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

/** Copies the imported rows into a table without indexes. Returns the seconds. */
async function copyBare(db: Database, path: string): Promise<number> {
  const columns = `offer_id, from_generation, merch_id, sku, gtin14, gtin_text, title, brand, mpn,
    url, url_key, image_url, price_micros, is_in_stock, category_id, regular_price_micros,
    description, color, size, item_group_id, content_hash`
  const reserved = await db.reserve()
  try {
    await pipeline(
      reserved.client.query(copyTo(`copy offer (${columns}) to stdout`)),
      createWriteStream(path),
    )
    await reserved.run(sql`drop table if exists bare_offer`)
    await reserved.run(
      sql`create table bare_offer (like offer including defaults including generated)`,
    )
    const start = performance.now()
    const copy = reserved.client.query(copyFrom(`copy bare_offer (${columns}) from stdin`))
    await pipeline(createReadStream(path, { highWaterMark: 1 << 18 }), copy)
    return (performance.now() - start) / 1000
  } finally {
    reserved.release()
  }
}

/** Imports in a separate process, to measure its memory alone. */
async function importInChild(work: {
  connection: Connection
  merchId: number
  feed: string
}): Promise<Import> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ['import'])
  child.send(work)
  const [result] = await Promise.race([once(child, 'message'), failure(child)])
  await once(child, 'exit')
  return result as Import
}

async function failure(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`the importing process ended with ${code}`)
}

async function importAsChild(): Promise<void> {
  const [work] = (await once(process, 'message')) as [Parameters<typeof importInChild>[0]]
  const { connection, merchId, feed } = work
  const db = openDatabase({ connection, applicationName: 'souk: bench import' })
  const start = performance.now()
  const file = await openFeedFile(feed)
  const options = { merchId, file, format: 'auto', at: new Date(), seed: 1 } as const
  const result = await importFeed(db, options)
  const seconds = (performance.now() - start) / 1000
  await db.close()
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024)
  process.send?.({ seconds, upserted: result.offers_upserted, peakMb } satisfies Import)
  process.disconnect?.()
}
