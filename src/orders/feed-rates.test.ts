import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { openFeedFile } from '../catalog/feeds/feed-file.ts'
import { importFeed } from '../catalog/feeds/import-feed.ts'
import { MERCHANT_DEFAULTS } from '../catalog/merchant.ts'
import { insertMerchant } from '../catalog/merchant-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { feedPriceRates } from './feed-rates.ts'
import { insertRates } from './rate-store.ts'

const db = await testDatabase()
const folder = await temporaryFolder({ after }, 'souk-test-')

const path = join(folder, 'feed.csv')
await writeFile(
  path,
  `id,title,link,price,sale_price
euro,Tea,https://shop.example/p/1,49.99 EUR,39.99 EUR
yen,Tea,https://shop.example/p/2,12800 JPY,
pound,Tea,https://shop.example/p/3,5.00 GBP,
dollar,Tea,https://shop.example/p/4,5.00 USD,
`,
)
const settings = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: ['shop.example'] }
const { merch_id: merchId } = await insertMerchant(db, settings)

async function load(day: string) {
  const toDollars = await feedPriceRates(db, day)
  const at = new Date(`${day}T12:00:00Z`)
  const file = await openFeedFile(path)
  const { rejected } = await importFeed(db, {
    merchId,
    file,
    format: 'auto',
    at,
    seed: 1,
    toDollars,
  })
  const offers = await db.rows<{ sku: string; price: string; regular: string | null }>(sql`
    select sku, price_micros as price, regular_price_micros as regular
    from current_offer where merch_id = ${merchId} order by sku`)
  return { rejected, prices: offers.map(({ sku, price, regular }) => [sku, price, regular]) }
}

test('imports a feed in other currencies while rates at most five days old are known', async () => {
  const dollar = ['dollar', '5000000', null]
  assert.deepEqual(await load('2026-04-13'), {
    rejected: { currency_other: 3 },
    prices: [dollar],
  })
  const published = { day: '2026-04-13', usdPerBase: '1.1684' }
  await insertRates(db, 'ecb', [
    { ...published, currency: 'EUR', currencyPerBase: '1' },
    { ...published, currency: 'JPY', currencyPerBase: '186.75' },
  ])
  for (const day of ['2026-04-13', '2026-04-18']) {
    assert.deepEqual(await load(day), {
      rejected: { currency_other: 1 },
      prices: [dollar, ['euro', '46724316', '58408316'], ['yen', '80083106', null]],
    })
  }
  assert.deepEqual((await load('2026-04-19')).rejected, { currency_other: 3 })
})
