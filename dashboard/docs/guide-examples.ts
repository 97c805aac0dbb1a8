/** The calls of the guides, by the names that the guides use. */
import type { CallValues } from './example-call.ts'

export interface GuideExample {
  readonly operationId: string
  readonly values: CallValues
}

const article = {
  article_name: 'Ten kettles, tested',
  article_url: 'https://magazine.example/kettles',
}
const days = { date_from: 'FIRST-DAY', date_to: 'LAST-DAY' }

const sentOrder = {
  order: {
    id: 'A-1001',
    value: '99.98',
    currency: 'USD',
    click_id: '9f86d081884c7d659a2feaa0c55ad015',
    test: true,
  },
  products: [{ id: 'K-1', name: 'Kettle', quantity: 2, price: '49.99' }],
}

export const GUIDE_EXAMPLES: Readonly<Record<string, GuideExample>> = {
  'read-tag-status': { operationId: 'readTagStatus', values: {} },
  'create-link': {
    operationId: 'createSmartLink',
    values: {
      body: { url: 'https://shop.example/p/1', ...article, pub_id: 'YOUR-PUBLISHER-ID' },
    },
  },
  'list-links': { operationId: 'listLinks', values: { query: { limit: '10' } } },
  'search-products': { operationId: 'searchProducts', values: { query: { q: 'kettle' } } },
  'match-product': {
    operationId: 'matchProduct',
    values: { query: { publisher_slug: 'YOUR-SLUG', gtin: '9521000000018', ...article } },
  },
  'read-statistics': { operationId: 'listStats', values: { query: days } },
  'export-clicks': {
    operationId: 'readReport',
    values: { path: { report: 'clicks' }, query: { ...days, format: 'csv' }, answer: 'text' },
  },
  'read-changes': {
    operationId: 'listStatsChanges',
    values: { query: { since: 'FIRST-DAYT00:00:00Z' } },
  },
  'create-secret': { operationId: 'renewPostbackSecret', values: {} },
  'send-order': { operationId: 'reportOrders', values: { body: { orders: [sentOrder] } } },
  'list-orders': { operationId: 'listMerchantOrders', values: { query: { limit: '10' } } },
  'send-return': { operationId: 'reportReturns', values: {} },
}
