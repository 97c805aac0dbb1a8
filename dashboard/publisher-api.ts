/** The API calls of a publisher's work: links, products, the tag, what-if and alerts. */
import type { Static } from 'typebox'
import type { NoFillReason, WhatIf, WhatIfBody, WhatIfJob } from '../src/auction/result-schema.ts'
import type { CheckRecord } from '../src/check-page/tag-check-operations.ts'
import type { Product as ProductRecord } from '../src/matching/product-operations.ts'
import type { ProductFeed } from '../src/matching/schema.ts'
import type { OrderRecord } from '../src/reports/order-record-schema.ts'
import type { LinkAuction, LinkExplanation } from '../src/stats/link-auction-operations.ts'
import type { FoundLink } from '../src/stats/link-finder-operations.ts'
import type { ArticleRecord, LinkRecord, LinkSettings } from '../src/stats/link-operations.ts'
import type { TagStatus as TagStatusRecord } from '../src/stats/tag-status-operations.ts'
import type { AlertsBody, AlertsRecord } from '../src/webhooks/alert-operations.ts'
import { all, first, LONGEST, page, post, postAll, send } from './api.ts'

export type Link = Static<typeof LinkRecord>
export type Article = Static<typeof ArticleRecord>
export type Settings = Static<typeof LinkSettings> & { readonly etag: string }
export type Auction = Static<typeof LinkAuction>
export type Explained = Static<typeof LinkExplanation>
export type Found = Static<typeof FoundLink>
export type Product = Static<typeof ProductRecord>
export type Offer = Product['offers'][number]
export type Reason = NoFillReason
export type NamedMerchant = { readonly merch_id: number; readonly name: string }
export type TagStatus = Static<typeof TagStatusRecord>
export type TagCheck = Static<typeof CheckRecord>
export type Alerts = Static<typeof AlertsRecord> & { readonly etag: string }
export type AlertsChange = Static<typeof AlertsBody>
export type Order = Static<typeof OrderRecord>
export type { WhatIf, WhatIfBody }

export interface LinkChange {
  readonly url?: string
  readonly exclusive_match_requested?: boolean
  readonly state?: 'active' | 'disabled'
}

/** The source of links to find: exactly one of these. */
export interface Source {
  readonly text?: string
  readonly html?: string
  readonly urls?: readonly string[]
}

const of = (pubId: number): string => `/api/v1/publishers/${pubId}`

/** Parameters that are null are omitted. */
function query(asked: Record<string, string | null>): string {
  const pairs = Object.entries(asked)
  const given = pairs.flatMap(([name, value]) => (value ? [[name, value]] : []))
  return new URLSearchParams(given).toString()
}

export const publisherApi = {
  links: (
    pubId: number,
    asked: { search: string | null; health: string | null; cursor: string | null },
  ) => page<Link>(`${of(pubId)}/links/?${LONGEST}&${query(asked)}`),
  link: async (pubId: number, id: string) =>
    (await page<Link>(`${of(pubId)}/links/?${query({ link: id })}`)).rows[0] ?? null,
  articles: (pubId: number) => page<Article>(`${of(pubId)}/articles/?${LONGEST}`),
  settings: (pubId: number, id: string) => first<Settings>(`${of(pubId)}/smart_links/${id}/`),
  changeLink: (pubId: number, id: string, change: LinkChange, etag?: string) =>
    send<Settings>(`${of(pubId)}/smart_links/${id}/`, 'PATCH', change, etag),
  auctions: (pubId: number, id: string, cursor: string | null) =>
    page<Auction>(`${of(pubId)}/smart_links/${id}/auctions/?${query({ cursor })}`),
  products: (pubId: number, q: string, cursor: string | null) =>
    page<Product>(`${of(pubId)}/products/?${query({ q, cursor, limit: '20' })}`),
  /** Creates smart links for the links of the source with `create`. */
  findLinks: (
    pubId: number,
    body: Source & { article: { url: string; name?: string | null }; create?: boolean },
  ) => postAll<Found>(`${of(pubId)}/link_finder/`, body),
  merchants: async (pubId: number): Promise<readonly NamedMerchant[]> => {
    const feeds = await all<Static<typeof ProductFeed>>(`${of(pubId)}/product_feeds/`)
    return feeds.map(({ merch_id, merchant: name }) => ({ merch_id, name }))
  },
  tagStatus: (pubId: number) => first<TagStatus>(`${of(pubId)}/tag_status/`),
  /** The newest check of a page; null if there is none. */
  lastTagCheck: async (pubId: number): Promise<TagCheck | null> => {
    const { rows } = await page<TagCheck>(`${of(pubId)}/tag_checks/?limit=1`)
    const [last] = rows
    return last === undefined ? null : first(`${of(pubId)}/tag_checks/${last.check_id}/`)
  },
  checkTag: (pubId: number, url: string) => post<TagCheck>(`${of(pubId)}/tag_checks/`, { url }),
  alerts: (pubId: number) => first<Alerts>(`${of(pubId)}/alerts/`),
  saveAlerts: ({ pub_id: pubId, etag }: Alerts, body: AlertsChange) =>
    send<Alerts>(`${of(pubId)}/alerts/`, 'PUT', body, etag),
  order: (pubId: number, id: string) => first<Order>(`${of(pubId)}/orders/${id}/`),
  explanation: (pubId: number, id: string) =>
    first<Explained>(`${of(pubId)}/smart_links/${id}/explanation/`),
}

/** How often a job that runs for long is asked. */
const JOB_POLL_MS = 1_000

/** A day under other settings. A long day is a job: this waits until it is done. */
export async function readWhatIf(body: WhatIfBody, signal: AbortSignal): Promise<WhatIf> {
  const { job_id: jobId = null, ...answer } = await post<WhatIf & Partial<WhatIfJob>>(
    '/api/v1/what_if/',
    body,
  )
  if (jobId === null) return answer
  for (;;) {
    signal.throwIfAborted()
    const { state, result } = await first<WhatIfJob>(`/api/v1/what_if/${jobId}/`)
    if (result !== null) return result
    if (state === 'failed') throw new Error('The day could not run again. Try once more.')
    await new Promise((resolve) => setTimeout(resolve, JOB_POLL_MS))
  }
}
