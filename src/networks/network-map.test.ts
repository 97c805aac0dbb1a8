import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ApiError } from '../platform/errors/api-errors.ts'
import { findColumns, missingColumns, type NetworkMap, readNetworkMap } from './network-map.ts'
import { READY_MAPS } from './ready-network-maps.ts'

test('a missing column is reported by the names looked for, a missing field as the map’s own', () => {
  const missingOf = (map: NetworkMap, header: string[]) =>
    missingColumns(map, findColumns(map, header))
  assert.deepEqual(missingOf({ date: ['Day', 'Date'] }, ['when']), [
    { field: 'date', rule: 'no column of the file holds it; looked for Day, Date' },
    { field: 'earnings', rule: 'the map names no column for it' },
  ])
  const both = { date: ['Day'], earnings: ['Paid'] }
  assert.partialDeepStrictEqual(missingOf(both, ['day']), [{ field: 'earnings' }])
  assert.deepEqual(missingOf(both, ['day', 'paid']), [])
  const status = { columns: ['State'], approved: ['a'], pending: [], declined: [] }
  assert.partialDeepStrictEqual(missingOf({ ...both, status }, ['day', 'paid']), [
    { field: 'status' },
  ])
  const optional: NetworkMap = { ...both, status: { ...status, is_optional: true } }
  assert.deepEqual(missingOf(optional, ['day', 'paid']), [])
})

test('a column is found without case, punctuation and the currency in its name', () => {
  const find = (name: string, ...header: string[]) =>
    findColumns({ earnings: [name] }, header).earnings
  assert.deepEqual(find('Commission', 'x', 'COMMISSION ')?.indexes, [1])
  assert.deepEqual(find('Order ID', 'order_id')?.indexes, [0])
  for (const header of ['Commission (EUR)', 'Commission [€]', 'commission EUR', 'EUR commission']) {
    const column = find('Commission', 'Commission rate', header)
    assert.deepEqual(column?.indexes, [1], header)
    assert.match(column?.currency.join() ?? '', /EUR|€/, header)
  }
  assert.deepEqual(find('Commission', 'Commission (all)', 'Commission rate'), undefined)
  assert.deepEqual(find('Commission', 'Commission EUR', 'Commission')?.indexes, [1])
  assert.deepEqual(find('saleAmount', 'saleAmountUsd')?.currency, ['USD'])
})

/** Headers as the networks write them: older and newer exports, and their APIs. */
const HEADERS: Record<string, string[]> = {
  cj: [
    'eventDate postingDate websiteId advertiserName shopperId commissionId originalActionId orderId saleAmountUsd pubCommissionAmountUsd actionStatus',
    'Event Date|Posting Date|Website ID|Advertiser Name|SID|Commission ID|Original Action ID|Order ID|Sale Amount (USD)|Publisher Commission (USD)|Action Status',
    'event-date posting-date website-id advertiser-name sid commission-id original-action-id order-id sale-amount commission-amount action-status',
  ],
  rakuten: [
    'Transaction Date|Process Date|Publisher ID|Advertiser Name|Member ID (U1)|Transaction ID|Order ID|SKU|Sales|Total Commission|Currency',
    'Transaction Date|Process Date|SID|Advertiser Name|Member ID (U1)|Transaction ID|Order ID|SKU Number|Gross Sales|Gross Total Commissions|Currency',
  ],
  awin: [
    'transactionDate publisherId advertiserName clickRefs.clickRef id orderRef saleAmount.amount commissionAmount.amount commissionAmount.currency saleAmount.currency commissionStatus',
    'Transaction Date|Publisher ID|Advertiser|Click Ref|ID|Order Reference|Sale Amount|Commission|Currency|saleAmount.currency|Status',
  ],
  impact: [
    'EventDate MediaId CampaignName SubId1 Id Oid SKU Amount Payout Currency State',
    'Action Date|Media Partner Id|Campaign|Sub Id 1|Action Id|Order Id|SKU|Sale Amount|Action Earnings|Currency|Status',
  ],
  amazon: [
    'Date Shipped|Tracking ID|Seller|ascsubtag|Tracking ID|ASIN|Items Shipped|Revenue($)|Ad Fees($)|Currency',
  ],
  partnerize: [
    'conversion_time publisher_id campaign_title publisher_reference conversion_id conversion_reference conversion_item_id value publisher_commission currency conversion_status',
  ],
  skimlinks: [
    'transaction_details.transaction_date publisher_domain_id merchant_details.name click_details.custom_id click_details.page_url commission_id transaction_details.invoice_id transaction_details.basket.order_amount transaction_details.basket.publisher_amount transaction_details.basket.currency transaction_details.status',
  ],
  tradedoubler: [
    'timeOfTransaction sourceId programName epi transactionId orderNumber productNumber orderValue commission currencyCode status',
    'Time of event|Site name|Program|EPI 1|Transaction ID|Order NR|Product name|Order value|Affiliate commission|Currency|Pending status',
  ],
  shareasale: [
    'Trans Date|User ID|Merchant Organization|Aff Comment|Trans ID|Order Number|Trans Amount|Commission|Voided',
    'transdate userid merchantid affcomment transid orderid transamount commission voided',
  ],
}

test('the ready maps find each of their fields in their networks’ reports', () => {
  assert.deepEqual(Object.keys(HEADERS), Object.keys(READY_MAPS))
  for (const [network, reports] of Object.entries(HEADERS)) {
    const map = READY_MAPS[network] ?? {}
    for (const report of reports) {
      const header = ['other', ...report.split(report.includes('|') ? '|' : ' ')]
      const found = findColumns(map, header)
      assert.deepEqual(Object.keys(found).sort(), Object.keys(map).sort(), network)
      const indexes = Object.values(found).map((column) => column?.indexes[0])
      assert.deepEqual(new Set(indexes).size, new Set(header).size - 1, `${network}: ${indexes}`)
    }
  }
})

test('docs/spec/networks.md lists the networks that have a ready map', () => {
  const page = readFileSync(new URL('../../docs/spec/networks.md', import.meta.url), 'utf8')
  const [listed = ''] = page.split('## Ready maps')[1]?.split(' have maps') ?? []
  assert.deepEqual(
    listed.match(/\w+/g)?.filter((word) => word !== 'and'),
    Object.keys(READY_MAPS),
  )
})

const OWN = { date: 'When', account: ['Site', 'Shop'], clicks: 'Clicks', sales: 'Sales' }

test('an operator’s map names columns, statuses and how values are written', () => {
  const status = { columns: 'State', approved: ['ok'], declined: ['no'] }
  const settings = { decimal_separator: ',', date_order: 'dmy', currency_code: 'eur' }
  assert.deepEqual(readNetworkMap(JSON.stringify({ ...OWN, status, ...settings })), {
    ...{ date: ['When'], account: ['Site', 'Shop'], clicks: ['Clicks'], sales: ['Sales'] },
    status: { columns: ['State'], approved: ['ok'], pending: [], declined: ['no'] },
    ...{ decimal_separator: ',', date_order: 'dmy', currency_code: 'EUR' },
  })
})

test('all faults of a map are reported', () => {
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
  const wrong = {
    ...{ when: 'Day', date: 3, account: ['Site', null], earnings: 'Paid' },
    ...{ decimal_separator: '·', date_order: 'ydm', currency_code: 'EURO' },
    status: { approved: ['x'], declined: [' X'], paid: ['y'] },
  }
  assert.partialDeepStrictEqual(faults(JSON.stringify(wrong)), [
    { field: 'map.when' },
    { field: 'map.date', rule: 'must be a column’s name, or a list' },
    { field: 'map.account', rule: 'must be a column’s name, or a list' },
    { field: 'map.decimal_separator', rule: 'must be one of . ,' },
    { field: 'map.date_order', rule: 'must be one of dmy mdy ymd' },
    { field: 'map.currency_code' },
    { field: 'map.status.paid' },
    { field: 'map.status.columns' },
    { field: 'map.status', rule: '"x" is in two lists' },
  ])
})
