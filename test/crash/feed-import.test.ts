/** A feed import that is killed: nothing has changed, and the next one is correct. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { makeMerchant } from '../support/catalogue.ts'
import { databaseUrl, testDatabase } from '../support/database.ts'
import { souk } from '../support/souk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'souk.ts')
const ROWS = 150_000 // Several chunks, and longer than it takes to see the first one.
const POLL_MS = 5

test("after kill -9 of an import readers see the old offers, and the next import's new ones", async (t) => {
  const folder = await temporaryFolder(t, 'souk-test-')
  const db = await testDatabase(t)
  const link = (id: string) => `https://shop.example/p/${id}`
  const offers = ['old', 'row-1'].map((id) => ({ id, link: link(id), price: '1.00 USD' }))
  const { merchId } = await makeMerchant(db, { name: 'Shop', domain: 'shop.example', offers })
  const before = await visible(db)

  const feed = join(folder, 'feed.csv')
  const rows = Array.from(
    { length: ROWS },
    (_, row) => `row-${row},T,${link(`row-${row}`)},2 USD\n`,
  )
  await writeFile(feed, `id,title,link,price\n${rows.join('')}`)
  const env = { DATABASE_URL: databaseUrl(db.connection), SOUK_DATA: folder }
  const args = ['feed', 'import', '--merchant', String(merchId), '--file', feed]

  const child = spawn(process.execPath, [CLI, ...args], { env: { ...process.env, ...env } })
  while ((await versions(db)) === before.length && child.exitCode === null) await sleep(POLL_MS)
  child.kill('SIGKILL')
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit')
  assert.equal(child.signalCode, 'SIGKILL', 'it was killed before it had ended')
  assert.deepEqual(await visible(db), before)
  assert.ok((await versions(db)) > before.length, 'it had committed a chunk')

  // Until the server notices that its client is gone, the merchant's lock stays.
  while (await isLocked(db)) await sleep(POLL_MS)
  const result = await souk<{ offers_upserted: number; offers_removed: number }>(env, ...args)
  assert.deepEqual([result.offers_upserted, result.offers_removed], [ROWS, 1])
  assert.deepEqual([(await visible(db)).length, await versions(db)], [ROWS, ROWS])
  const kept = before.find(({ sku }) => sku === 'row-1')
  assert.ok((await visible(db)).some(({ offer_id }) => offer_id === kept?.offer_id))
})

function visible(db: Database): Promise<{ offer_id: string; sku: string; price: string }[]> {
  return db.rows(sql`
    select offer_id, sku, price_micros::text as price from current_offer order by offer_id
  `)
}

async function versions(db: Database): Promise<number> {
  const row = await db.row<{ n: number }>(sql`select count(*)::int as n from offer`)
  return row?.n ?? 0
}

async function isLocked(db: Database): Promise<boolean> {
  const locks = await db.rows(sql`
    select from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())
  `)
  return locks.length > 0
}
