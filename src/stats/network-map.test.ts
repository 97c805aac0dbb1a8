import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../platform/errors.ts'
import {
  findColumns,
  type NetworkMap,
  READY_MAPS,
  readNetworkMap,
  readReportAmount,
  readReportDay,
} from './network-map.ts'

/** What is said of the fields that no column of a file with these columns is found for. */
function refusal(map: NetworkMap, headers: string[]): unknown {
  try {
    return findColumns(map, { headers })
  } catch (error) {
    return error instanceof ApiError ? error.data : assert.fail(String(error))
  }
}

test('what a file lacks is told by the names looked for, what a map lacks as the map’s own', () => {
  const looked = 'no column of the file says it; looked for Day, Date'
  assert.deepEqual(refusal({ date: ['Day', 'Date'] }, ['when']), [
    { field: 'date', rule: looked },
    { field: 'earnings', rule: 'the map names no column for it' },
  ])
  const lacking = refusal({ date: ['Day'], earnings: ['Paid'] }, ['day'])
  assert.partialDeepStrictEqual(lacking, [{ field: 'earnings' }])
  assert.deepEqual(refusal({ date: ['Day'], earnings: ['Paid'] }, ['day', 'paid']), {
    date: 'day',
    earnings: 'paid',
  })
})

/** Headers as the networks write them, by field: their older and newer exports, and their APIs. */
const HEADERS: Record<string, Record<string, string>[]> = {
  cj: [
    {
      ...{ date: 'eventDate', account: 'websiteId', advertiser: 'advertiserName' },
      ...{ sub_id: 'shopperId', order_id: 'orderId' },
      ...{ revenue: 'saleAmountUsd', earnings: 'pubCommissionAmountUsd' },
    },
    {
      ...{
        date: 'Event Date',
        account: 'Website ID',
        advertiser: 'Advertiser Name',
        sub_id: 'SID',
      },
      ...{ order_id: 'Order ID', revenue: 'Sale Amount (USD)' },
      earnings: 'Publisher Commission (USD)',
    },
    {
      ...{
        date: 'event-date',
        account: 'website-id',
        advertiser: 'advertiser-name',
        sub_id: 'sid',
      },
      ...{ order_id: 'order-id', revenue: 'sale-amount', earnings: 'commission-amount' },
    },
    {
      ...{ date: 'eventDate', account: 'publisherId', advertiser: 'Advertiser' },
      ...{ revenue: 'Sale Amount', earnings: 'Publisher Commission' },
    },
  ],
  rakuten: [
    {
      ...{ date: 'Transaction Date', account: 'Publisher ID', advertiser: 'Advertiser Name' },
      ...{ sub_id: 'Member ID (U1)', order_id: 'Order ID', revenue: 'Sales' },
      ...{ earnings: 'Total Commission', currency: 'Currency' },
    },
    {
      ...{ date: 'Transaction Date', account: 'SID' },
      ...{ revenue: 'Gross Sales', earnings: 'Gross Total Commissions' },
    },
  ],
  awin: [
    {
      ...{ date: 'transactionDate', account: 'publisherId', advertiser: 'advertiserName' },
      ...{ sub_id: 'clickRefs.clickRef', order_id: 'orderRef', revenue: 'saleAmount.amount' },
      ...{ earnings: 'commissionAmount.amount', currency: 'commissionAmount.currency' },
    },
    {
      ...{ date: 'Transaction Date', account: 'Publisher ID', advertiser: 'Advertiser' },
      ...{ sub_id: 'Click Ref', order_id: 'Order Reference', revenue: 'Sale Amount' },
      ...{ earnings: 'Commission', currency: 'Currency' },
    },
    {
      ...{ date: 'transactionDate', advertiser: 'siteName', sub_id: 'clickRef', order_id: 'id' },
      ...{ revenue: 'saleAmount', earnings: 'commissionAmount', currency: 'currency' },
    },
    {
      ...{ date: 'Transaction Date', advertiser: 'advertiserId', sub_id: 'Clickref' },
      ...{ order_id: 'ID', earnings: 'Commission' },
    },
  ],
}

test('the ready maps find each field in their networks’ reports, older and newer', () => {
  for (const [network, reports] of Object.entries(HEADERS)) {
    for (const report of reports) {
      const lowered = Object.entries(report).map(([field, name]) => [field, name.toLowerCase()])
      const headers = lowered.map(([, name]) => name ?? '')
      const found = findColumns(READY_MAPS[network] ?? {}, {
        headers: ['other', ...headers],
      })
      assert.deepEqual(found, Object.fromEntries(lowered), network)
    }
  }
})

test('a map of one’s own names a column or several for each field, and all its faults are told', () => {
  const told = { date: 'When', account: ['Site', 'Shop'], clicks: 'Clicks', sales: 'Sales' }
  assert.deepEqual(
    readNetworkMap(JSON.stringify({ ...told, publisher: 'Slug', article_url: 'Page' })),
    {
      ...{ date: ['When'], account: ['Site', 'Shop'], clicks: ['Clicks'], sales: ['Sales'] },
      ...{ publisher: ['Slug'], article_url: ['Page'] },
    },
  )
  const faults = (text: string) => {
    try {
      return readNetworkMap(text)
    } catch (error) {
      return error instanceof ApiError ? error.data : assert.fail(String(error))
    }
  }
  assert.partialDeepStrictEqual(faults('{'), [{ field: 'map', rule: 'is not valid JSON' }])
  for (const text of ['null', '[]', '"date"', '3']) {
    const rule = 'must be an object of fields and column names'
    assert.deepEqual(faults(text), [{ field: 'map', rule }], text)
  }
  assert.partialDeepStrictEqual(faults('{"when":"Day"}'), [{ field: 'map.when' }])
  const wrong = { when: 'Day', date: 3, account: ['Site', null], earnings: 'Paid' }
  assert.partialDeepStrictEqual(faults(JSON.stringify(wrong)), [
    { field: 'map.when' },
    { field: 'map.date', rule: 'must be a column’s name, or a list' },
    { field: 'map.account', rule: 'must be a column’s name, or a list' },
  ])
})

test('days are read as networks write them, and none is made up', () => {
  for (const [text, day] of Object.entries({
    ...{ '2026-03-02': '2026-03-02', '2026-03-02T23:59:59-08:00': '2026-03-02' },
    ...{ '2026-03-02 11:00': '2026-03-02', '3/2/26': '2026-03-02', '12/31/2026': '2026-12-31' },
    ...{ '03/02/2026 1:02 PM': '2026-03-02', '2026-02-29': null, '2/29/2026': null },
    ...{ '31/12/2026': null, '2026-3-2': null, '2026-03-021': null, '3/2/026': null },
    ...{ '0000-01-01': null, '0000-00-00': null, '1/1/0000': null },
    ...{ '': null, soon: null, 'on 2026-03-02': null, 'x3/2/26': null, '2026-13-01': null },
  })) {
    assert.equal(readReportDay(text), day, text)
  }
})

test('amounts are read to the millionth as networks write them, and none is made up', () => {
  for (const [text, millionths] of Object.entries({
    ...{
      '20': 20_000_000n,
      '$20.00': 20_000_000n,
      '€0.5': 500_000n,
      '.25': 250_000n,
      '7.': 7_000_000n,
    },
    ...{ '-1,295.658': -1_295_658_000n, '(3.10)': -3_100_000n, '12,345,678': 12_345_678_000_000n },
    ...{ '0.0000019': 1n, '-0.0000019': -1n, '1.123456789': 1_123_456n },
    ...{ '': null, '.': null, '-': null, $: null, '1,23': null, '1.234,56': null, '1e3': null },
    ...{ '(3.10': null, x1: null, '1x': null, '--1': null, '12 USD': null },
  })) {
    assert.equal(readReportAmount(text), millionths, text)
  }
})
