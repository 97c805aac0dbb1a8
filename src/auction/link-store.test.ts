import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importOffers, makeMerchant } from '../../test/support/catalogue.ts'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { loadLinks } from './link-store.ts'

test("of several listings at a link's URL, the one in stock, then the cheapest, then the oldest is the original", async (t) => {
  const db = await testDatabase(t)
  const { merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId, link } = await addArticle('Mugs')
  const original = async () =>
    (await loadLinks(db, [auctionId], () => true)).get(auctionId)?.original?.title
  assert.equal(await original(), undefined)

  await importOffers(db, merchant.merch_id, [
    { id: 'gone', link, price: '1.00 USD', availability: 'out of stock' },
    { id: 'dear', link, price: '9.00 USD' },
    { id: 'cheap', link, price: '5.00 USD' },
    { id: 'as cheap', link, price: '5.00 USD' },
  ])
  assert.equal(await original(), 'Product cheap')

  // The shop moves, and another one lists the same page.
  await updateMerchant(db, { merchId: merchant.merch_id, changes: { domains: ['old.example'] } })
  const next = { name: 'Next', domain: 'gazette-shop.example' }
  await makeMerchant(db, { ...next, offers: [{ id: 'cheaper', link, price: '4.00 USD' }] })
  assert.equal(await original(), 'Product cheaper')
})

test('a long-cached link keeps no shared buffer alive', async (t) => {
  const db = await testDatabase(t)
  const { merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId, link } = await addArticle('Mugs')
  await importOffers(db, merchant.merch_id, [{ id: 'mug', link, price: '5.00 USD' }])
  const held = (await loadLinks(db, [auctionId], () => true)).get(auctionId)
  assert.equal(held?.offers.length, 1)
  for (const row of [held.link, held.original, ...held.offers]) {
    for (const value of Object.values(row ?? {})) assert.ok(!Buffer.isBuffer(value))
  }
})
