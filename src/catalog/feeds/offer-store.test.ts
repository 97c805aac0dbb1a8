import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { MERCHANT_DEFAULTS } from '../merchant.ts'
import { insertMerchant } from '../merchant-store.ts'
import {
  cleanLeftovers,
  findFeedOwner,
  markImport,
  switchGeneration,
  touchMerchantFeed,
  unmarkImport,
} from './offer-store.ts'

const db = await testDatabase()

async function makeShop(name: string): Promise<number> {
  const domains = [`${name}.example`]
  return (await insertMerchant(db, { ...MERCHANT_DEFAULTS, name, domains })).merch_id
}
const [own, other] = [await makeShop('own'), await makeShop('other')]

/** What an import changes of both merchants; whether anything was imported so far. */
async function shown() {
  const rows = await db.rows<{ generation: number; is_imported: boolean }>(sql`
    select generation, feed_imported_at is not null as is_imported from merchant
    order by merch_id`)
  return rows.map(({ generation, is_imported }) => [generation, is_imported])
}

test('an import knows the domains and the leftovers of its own merchant', async () => {
  await markImport(db, other)
  const ofOwn = {
    generation: 0,
    domains: ['own.example'],
    default_currency: null,
    has_leftovers: false,
  }
  assert.deepEqual(await findFeedOwner(db, own), ofOwn)
  const ofOther = {
    generation: 0,
    domains: ['other.example'],
    default_currency: null,
    has_leftovers: true,
  }
  assert.deepEqual(await findFeedOwner(db, other), ofOther)
  await markImport(db, own)
  await unmarkImport(db, own)
  assert.deepEqual(await findFeedOwner(db, own), ofOwn)
  assert.deepEqual(await findFeedOwner(db, other), ofOther, 'which are still to be cleaned up')
})

test('an import shows its own merchant’s offers, unless another has changed them meanwhile', async () => {
  await switchGeneration(db, { merchId: own, from: 0 })
  const switched = [
    [1, true],
    [0, false],
  ]
  assert.deepEqual(await shown(), switched)
  const late = switchGeneration(db, { merchId: own, from: 0 })
  await assert.rejects(late, /the merchant changed during the import; nothing was changed/)
  assert.deepEqual(await shown(), switched)
})

test('an import without a change makes no other merchant’s offers young', async () => {
  await db.run(sql`update merchant set feed_imported_at = null`)
  await touchMerchantFeed(db, own)
  assert.deepEqual(await shown(), [
    [1, true],
    [0, false],
  ])
})

test('what a broken import has left is undone, of its own merchant alone', async () => {
  const version = (merchId: number, sku: string, from: number, to: number | null) =>
    db.run(sql`
      insert into offer (merch_id, sku, from_generation, to_generation, title, url, url_key,
        price_micros, is_in_stock, content_hash)
      values (${merchId}, ${sku}, ${from}, ${to}, 'Mug', 'https://own.example/', '', 1, true, '')`)
  await version(own, 'shown', 3, null)
  await version(own, 'shown until the import ended it', 3, 6)
  await version(own, 'of the import', 6, null)
  await version(own, 'long over', 2, 4)
  const foreign = [
    ['older and over', 2, 4],
    ['shown since', 9, null],
    ['shown until it was changed', 7, 9],
  ] as const
  for (const [sku, from, to] of foreign) await version(other, sku, from, to)

  await cleanLeftovers(db, { merchId: own, generation: 5 })
  const left = (merchId: number) =>
    db.rows<{ sku: string; from: number; to: number | null }>(sql`
      select sku, from_generation as from, to_generation as to from offer
      where merch_id = ${merchId} order by sku`)
  assert.deepEqual(await left(own), [
    { sku: 'shown', from: 3, to: null },
    { sku: 'shown until the import ended it', from: 3, to: null },
  ])
  assert.deepEqual(
    await left(other),
    foreign.map(([sku, from, to]) => ({ sku, from, to })),
  )
})
