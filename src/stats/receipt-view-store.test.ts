import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hold } from '../../test/support/auction-world.ts'
import { importOffers } from '../../test/support/catalogue.ts'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { packReceipt } from '../auction/receipt.ts'
import { importFeed } from '../catalog/feeds/import-feed.ts'
import { sql } from '../platform/postgres/sql.ts'
import { readReceipt } from './receipt-view-store.ts'

test('a receipt shows product names as readers saw them, not from a feed whose import failed', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { merch_id: merchId } = merchant
  const { auctionId } = await addArticle('Mugs')
  const link = 'https://gazette-shop.example/mug'
  await importOffers(db, merchId, [{ id: 'mug', title: 'A blue mug', link }])
  const offer = await db.row<{ offer_id: string }>(sql`select offer_id from current_offer`)
  const offerId = offer?.offer_id ?? ''
  const resultNumber = Buffer.alloc(16, 1)
  const held = hold([{ name: 'A', offerId }], {}, resultNumber)
  const packed = packReceipt({ ...held, resultNumber })
  const offers = async () => {
    const result = { pub_id: publisher.pub_id, auction_id: auctionId, packed }
    return (await readReceipt(db, { result, resultNumber, merchIds: new Set() })).offers
  }
  assert.deepEqual(await offers(), [{ offer_id: offerId, title: 'A blue mug', url: link }])
  const bowl = JSON.stringify({ id: 'mug', title: 'A green bowl', link, price: '49.99 USD' })
  const content = Buffer.from(`${bowl}\n{"id":"of no product"}`)
  const importing = importFeed(db, {
    merchId,
    file: {
      totalBytes: 0,
      readBytes: 0,
      isCut: false,
      bytes: async function* () {
        yield content
      },
    },
    ...{ format: 'jsonl', at: new Date(), seed: 1, chunkRows: 1 },
    onRejects: () => Promise.reject(new Error('the disk is full')),
  })
  await assert.rejects(importing, /the disk is full/)
  assert.deepEqual(await offers(), [{ offer_id: offerId, title: 'A blue mug', url: link }])
})
