import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldFinder, findColumns } from './feed-columns.ts'
import { saleState } from './sale-dates.ts'

const AT = Date.parse('2026-06-15T12:00:00Z')
const state = (range: string, start = '', end = '') => saleState({ range, start, end }, AT)

test('reads a range of dates in the notations of feeds', () => {
  const running = [
    '2026-06-01T00:00Z/2026-06-15T12:01Z',
    '2026-06-01T13:00-0800/2026-06-29T15:30-0800',
    '2026-06-01T00:00+02:00 / 2026-07-01T23:59+02:00',
    '2026-06-01/2026-06-15',
    '2026-06-01 - 2026-06-30',
    '2026-06-01 00:00:00 to 2026-06-30 23:59:59',
    '01.06.2026 - 30.06.2026',
    '01.06.2026–30.06.2026',
    '2026/06/01 - 2026/06/30',
    '15/05/2026 - 30/06/2026',
    '05/15/2026 - 06/30/2026',
    '2026-06-01,2026-06-30'.replace(',', ', '),
    '20260601/20260630',
    '1 June 2026/15 June 2026',
    'Jun 1, 2026 - Jun 30, 2026',
    '1780000000/1790000000',
    '/2026-06-30',
    '2026-06-01/',
    '',
  ]
  for (const range of running) assert.equal(state(range), 'running', range)
  const over = ['2026-06-01/2026-06-14', '2026-06-01T00:00Z/2026-06-15T12:00Z', '/2026-06-15T08:00']
  for (const range of over) assert.equal(state(range), 'over', range)
  assert.equal(state('2026-06-16/2026-06-30'), 'not_begun')
})

test('an invalid or ambiguous date is unreadable', () => {
  const unreadable = [
    'soon',
    'foo 1/bar 2',
    '06/07/2026 - 08/09/2026',
    '2026-06-31/2026-07-31',
    '2026-13-01/2026-14-01',
    '2026-06-30/2026-06-01',
    '2026-06-01',
    '1/2',
    '2026-06-01T25:00Z/2026-07-01',
    '2026-06-01T10:00 Mars/2026-07-01',
  ]
  for (const range of unreadable) assert.equal(state(range), 'unreadable', range)
})

test('finds the columns of sale dates by the names that shop systems use', () => {
  const field = (name: string) => fieldFinder()(name)?.field ?? null
  const names: [string, string][] = [
    ['sale_price_start_date', 'saleStart'],
    ['sale_price_end_date', 'saleEnd'],
    ['special_from_date', 'saleStart'],
    ['reduced_price_to', 'saleEnd'],
    ['special_to_date', 'saleEnd'],
    ['special_price_from_date', 'saleStart'],
    ['special_price_to_date', 'saleEnd'],
    ['Special Price To', 'saleEnd'],
    ['Date sale price starts', 'saleStart'],
    ['Date sale price ends', 'saleEnd'],
    ['date_on_sale_from', 'saleStart'],
    ['date_on_sale_to_gmt', 'saleEnd'],
    ['_sale_price_dates_from', 'saleStart'],
    ['_sale_price_dates_to', 'saleEnd'],
    ['saleStartDate', 'saleStart'],
    ['sale_end', 'saleEnd'],
    ['discount_valid_until', 'saleEnd'],
    ['promotion_start', 'saleStart'],
    ['sale_price_effective_start_date', 'saleStart'],
    ['sale_price_effective_date_end', 'saleEnd'],
    ['offer_expires_at', 'saleEnd'],
    ['price_valid_until', 'saleEnd'],
    ['sale_price_effective_date', 'salePriceDates'],
    ['sale price effective dates', 'salePriceDates'],
    ['sale_price_date_range', 'salePriceDates'],
    ['g:sale_price_effective_date', 'salePriceDates'],
    ['special_price', 'salePrice'],
    ['sale_price', 'salePrice'],
  ]
  for (const [name, expected] of names) assert.equal(field(name), expected, name)
  for (const name of ['sale', 'deal', 'offer_id_to', 'start', 'shipping_start_date']) {
    assert.ok(!['saleStart', 'saleEnd', 'salePriceDates'].includes(field(name) ?? ''), name)
  }
  assert.equal(findColumns(['Fashion:size'], fieldFinder()).first.size, 0)
})
