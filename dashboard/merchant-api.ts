/** Calls of the merchant's pages: feed, products, orders, tag, invoices, settings. */
import type { Static } from 'typebox'
import type { ImportRecord, RejectRecord, SourceRecord } from '../src/catalog/feeds/feed-schema.ts'
import type {
  SettingsRecord,
  SettingsBody as SettingsShape,
} from '../src/catalog/merchant-operations.ts'
import type { TagStatus as TagStatusShape } from '../src/orders/tag-status-operations.ts'
import type {
  InvoiceDetail as InvoiceDetailShape,
  InvoiceRecord,
} from '../src/reports/invoice-record.ts'
import type { OfferRecord } from '../src/reports/merchant-offer-operations.ts'
import type { ListedOrder } from '../src/reports/merchant-order-operations.ts'
import type { ListedReturn } from '../src/reports/merchant-return-operations.ts'
import { all, call, first, LONGEST, ofMerchant, page, post, type Range, send } from './api.ts'

export type FeedSource = Static<typeof SourceRecord> & { readonly etag: string }
export type FeedImport = Static<typeof ImportRecord>
export type Reject = Static<typeof RejectRecord>
export type Offer = Static<typeof OfferRecord>
export type ShopOrder = Static<typeof ListedOrder>
export type ShopReturn = Static<typeof ListedReturn>
export type TagStatus = Static<typeof TagStatusShape>
export type Invoice = Static<typeof InvoiceRecord>
export type InvoiceDetail = Static<typeof InvoiceDetailShape>
export type MerchantSettings = Static<typeof SettingsRecord> & { readonly etag: string }
export type MerchantSettingsBody = Static<typeof SettingsShape>

export interface ListQuery {
  readonly [name: string]: string | null
}

const query = (asked: ListQuery): string =>
  new URLSearchParams(
    Object.entries(asked).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  ).toString()

export const days = ({ from, to }: Range): ListQuery => ({ date_from: from, date_to: to })

const ROWS = '100'

export const merchantApi = {
  tagStatus: (merchId: number) => first<TagStatus>(`${ofMerchant(merchId)}/tag_status/`),
  settings: (merchId: number) => first<MerchantSettings>(`${ofMerchant(merchId)}/settings/`),
  changeSettings: ({ merch_id, etag }: MerchantSettings, body: MerchantSettingsBody) =>
    send<MerchantSettings>(`${ofMerchant(merch_id)}/settings/`, 'PATCH', body, etag),
  newSecret: (merchId: number) =>
    post<{ postback_secret: string | null; former_secret_until: string }>(
      `${ofMerchant(merchId)}/secrets/postback/`,
      {},
    ),

  /** The share of a day's clicks that each UTC hour has. */
  trafficCurve: (merchId: number) =>
    first<{ readonly hours: readonly number[] }>(`${ofMerchant(merchId)}/traffic_curve/`),

  /** Null without a source. */
  feedSource: async (merchId: number) =>
    (await all<FeedSource>(`${ofMerchant(merchId)}/feed/`))[0] ?? null,
  /** With the source that the person saw: a change by somebody else meanwhile refuses it. */
  setFeedSource: async (merchId: number, body: object, before: FeedSource | null) => {
    const headers = {
      'content-type': 'application/json',
      ...(before === null ? {} : { 'if-match': before.etag }),
    }
    const init = { method: 'PUT', headers, body: JSON.stringify(body) }
    return (await call<FeedSource>(`${ofMerchant(merchId)}/feed/`, init))[0]
  },
  deleteFeedSource: (merchId: number) =>
    call<object>(`${ofMerchant(merchId)}/feed/`, { method: 'DELETE' }),
  feedImports: (merchId: number) =>
    all<FeedImport>(`${ofMerchant(merchId)}/feed/imports/?${LONGEST}`),
  feedImport: (merchId: number, id: string) =>
    first<FeedImport>(`${ofMerchant(merchId)}/feed/imports/${id}/`),
  /** From the source. */
  startImport: async (merchId: number, asked: ListQuery) =>
    (await call<FeedImport>(importUrl(merchId, asked), { method: 'POST' }))[0],
  rejects: (merchId: number, id: string, cursor: string | null) =>
    page<Reject>(
      `${ofMerchant(merchId)}/feed/imports/${id}/rejects/?${query({ limit: '500', cursor })}`,
    ),

  offers: (merchId: number, asked: ListQuery) =>
    page<Offer>(`${ofMerchant(merchId)}/offers/?${query({ limit: ROWS, ...asked })}`),
  orders: (merchId: number, asked: ListQuery) =>
    page<ShopOrder>(`${ofMerchant(merchId)}/orders/?${query({ limit: ROWS, ...asked })}`),
  returns: (merchId: number, asked: ListQuery) =>
    page<ShopReturn>(`${ofMerchant(merchId)}/returns/?${query({ limit: ROWS, ...asked })}`),
  /** Rejects with a reason, approves without. */
  decideOrder: (merchId: number, orderId: string, reason: string | null) =>
    post<object>(
      `${ofMerchant(merchId)}/orders/${encodeURIComponent(orderId)}/${reason === null ? 'approve' : 'reject'}/`,
      reason === null ? {} : { reason },
    ),
  invoices: (merchId: number) => all<Invoice>(`${ofMerchant(merchId)}/invoices/?${LONGEST}`),
  invoice: (merchId: number, month: string) =>
    first<InvoiceDetail>(`${ofMerchant(merchId)}/invoices/${month}/`),
}

export const importUrl = (merchId: number, asked: ListQuery): string =>
  `${ofMerchant(merchId)}/feed/imports/?${query(asked)}`
export const rejectsUrl = (merchId: number, id: string): string =>
  `${ofMerchant(merchId)}/feed/imports/${id}/rejects/`
export const invoiceUrl = (merchId: number, month: string): string =>
  `${ofMerchant(merchId)}/invoices/${month}/`
