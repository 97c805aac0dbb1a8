/** Times are UTC everywhere, whatever the machine's time zone. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkOffer, onlyDollars } from '../src/catalog/feeds/check-offer.ts'
import { FieldGatherer } from '../src/catalog/feeds/feed-entry.ts'
import { startApi } from './support/api.ts'

// Before standard time this zone was 4 hours, 56 minutes and 2 seconds behind; offsets in text have
// no seconds.
process.env.TZ = 'America/New_York'
const api = await startApi({ after })
const { key } = await api.account()

test('a time is exact to the second on a machine of any time zone', async () => {
  // The first is the "no date" of some languages.
  for (const date of ['0001-01-01T00:00:00Z', '1880-01-01T00:00:00Z', '2026-03-08T07:30:00Z']) {
    const body = {
      article_name: 'A',
      article_url: `https://daily.example/${date}`,
      article_publication_date: date,
    }
    const answer = await api.call('/api/v1/smart_links/', { key, body })
    assert.equal(answer.status, 201, answer.text)
    const { article } = answer.entry<{ article: { publication_date: string } }>()
    assert.equal(article.publication_date, date)
  }
})

test('sale dates without a zone are UTC, in every notation', () => {
  const priceAt = (salePriceDates: string, time = '12:00') => {
    const row = new FieldGatherer()
    const link = 'https://shop.example/1'
    const said = { id: 'A1', title: 'Mug', link, price: '5.00', salePrice: '3.00', salePriceDates }
    for (const [field, text] of Object.entries(said))
      row.set({ field: field as keyof typeof said, rank: 0 }, text)
    const at = { atMs: Date.parse(`2026-06-15T${time}Z`), toDollars: onlyDollars }
    const currency = { currency: 'USD', isCurrencyAssumed: false }
    const context = { domains: ['shop.example'], ...currency, ...at }
    const judged = checkOffer(row.finish(), context)
    return judged.kind === 'offer' ? judged.offer.priceMicros / 1e6 : judged.reason
  }
  assert.equal(priceAt('2026-06-15T12:00/2026-06-15T12:01'), 3)
  assert.equal(priceAt('2026-06-15 11:00:00/2026-06-15 12:00:00'), 5)
  assert.equal(priceAt('2026-06-15T08:00-0400/2026-06-15T08:01-04:00'), 3)
  assert.equal(priceAt('Jun 15, 2026 12:00 PM/Jun 15, 2026 12:01 PM'), 3)
  assert.equal(priceAt('2026-6-15 11:00:00/2026-6-15 12:00:00'), 5)
  assert.equal(priceAt('Mon, 15 Jun 2026 08:00:00 EDT/Mon, 15 Jun 2026 12:01:00 +0000'), 3)
  assert.equal(priceAt('Jun 15 2026 14:00:00 GMT+0200 (CEST)/6-15-2026'), 3)
  assert.equal(priceAt('15 2026 June/15 2026 June', '02:00'), 3)
  assert.equal(priceAt('Jun 15 2026 01:00 (CET)/6-15-2026', '02:00'), 3)
})
