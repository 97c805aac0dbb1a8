/** Commands write all settings of a record; of two concurrent ones, neither may undo the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser } from '../src/accounts/create-account.ts'
import { PUBLISHER_DEFAULTS } from '../src/accounts/publisher.ts'
import { insertPublisher, updatePublisher } from '../src/accounts/publisher-store.ts'
import { CAMPAIGN_DEFAULTS } from '../src/campaigns/campaign.ts'
import { insertCampaign, updateCampaign } from '../src/campaigns/campaign-store.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { insertMerchant, updateMerchant } from '../src/catalog/merchant-store.ts'
import { micros } from '../src/platform/money/money.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { testDatabase, whileWritten } from './support/database.ts'

const db = await testDatabase()
const world = { now: new Date('2026-03-02T12:00:00Z'), knowsCountries: true }

test('a change of a publisher keeps a concurrent change of another setting', async () => {
  const user = { email: 'ann@pub.example', password: 'long enough', isAdmin: false }
  const { uid } = await createUser(db, user)
  const settings = { ...PUBLISHER_DEFAULTS, uid, name: 'Daily', slug: 'daily' }
  const { pub_id: pubId } = await insertPublisher(db, settings)
  const other = sql`update publisher set is_partner = true where pub_id = ${pubId}`
  const changed = await whileWritten(db, other, () =>
    updatePublisher(db, { pubId, changes: { name: 'Weekly' } }),
  )
  assert.deepEqual([changed.name, changed.is_partner], ['Weekly', true])
})

test('a change of a merchant keeps a concurrent change of another setting', async () => {
  const settings = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: ['shop.example'] }
  const { merch_id: merchId } = await insertMerchant(db, settings)
  const other = sql`update merchant set click_param = 'sub' where merch_id = ${merchId}`
  const changed = await whileWritten(db, other, () =>
    updateMerchant(db, { merchId, changes: { name: 'Store' } }),
  )
  assert.deepEqual([changed.name, changed.click_param], ['Store', 'sub'])
})

test('a change of a campaign keeps a concurrent change of another setting', async () => {
  const shop = { ...MERCHANT_DEFAULTS, name: 'Mill', domains: ['mill.example'] }
  const { merch_id } = await insertMerchant(db, shop)
  const bid_micros = micros(600_000)
  const settings = { ...CAMPAIGN_DEFAULTS, merch_id, model: 'cpc' as const, bid_micros }
  const { campaign_id: campaignId } = await insertCampaign(db, { settings, world })
  const other = sql`update campaign set devices = '{mobile}' where campaign_id = ${campaignId}`
  const changes = { bid_micros: micros(700_000) }
  const changed = await whileWritten(db, other, () =>
    updateCampaign(db, { campaignId, changes, world }),
  )
  assert.deepEqual([changed.bid_micros, changed.devices], [700_000, ['mobile']])
})
