/**
 * The dashboard's API calls. Types come from the service's own schemas, so that one change covers
 * both sides.
 */
import type { Static } from 'typebox'
import type { SettingsBody } from '../src/accounts/publisher-operations.ts'
import type { PublisherRecord } from '../src/accounts/schema.ts'
import type { MeRecord } from '../src/accounts/sign-in/me-operations.ts'
import type { NoFill } from '../src/auction/dashboard-schema.ts'
import type { Explanation } from '../src/auction/explanation-schema.ts'
import type {
  CampaignEntry,
  NewCampaignBody,
  NewCampaignEntry,
} from '../src/campaigns/campaign-schema.ts'
import type { LinkPage } from '../src/links/dashboard-schema.ts'
import type { CreateSmartLinkBody, SmartLinkRecord } from '../src/links/schema.ts'
import type { RefusalRecord } from '../src/orders/schema.ts'
import type { Fault } from '../src/platform/errors/api-errors.ts'
import type { AccountPage, MerchantOverview } from '../src/reports/merchant-overview-schema.ts'
import type { MerchantOrderRecord } from '../src/reports/order-record-schema.ts'
import type { Payments } from '../src/reports/payments-schema.ts'
import type { PerformanceRecord } from '../src/reports/performance-operations.ts'
import type { Group } from '../src/reports/performance-store.ts'
import type {
  ClickPage,
  NamedMerchant,
  OrderPage,
  Overview,
  Receipt,
  ReturnPage,
} from '../src/stats/dashboard-schema.ts'

export type User = Static<typeof MeRecord>
/** A publisher of the signed-in user. */
export interface Publisher {
  readonly pub_id: number
  readonly name: string
}
export type SmartLink = Static<typeof SmartLinkRecord>
export type MerchantOrder = Static<typeof MerchantOrderRecord>
export type Refusal = Static<typeof RefusalRecord>
export type Merchant = Static<typeof NamedMerchant>
export type PublisherSettings = Static<typeof PublisherRecord> & { readonly etag: string }
export type { SettingsBody }
/** The etag comes with a single campaign, not with a list. */
export type Campaign = Static<typeof CampaignEntry> & { readonly etag?: string }
/** With a note on its price, which only its creation answers. */
export type NewCampaign = Static<typeof NewCampaignEntry>
export type CampaignBody = Static<typeof NewCampaignBody>
export type Performance = PerformanceRecord
export type PerformanceGroup = Group
export type {
  AccountPage,
  ClickPage,
  CreateSmartLinkBody,
  Explanation,
  LinkPage,
  MerchantOverview,
  NoFill,
  OrderPage,
  Overview,
  Payments,
  Receipt,
  ReturnPage,
}

export interface PerformanceQuery {
  readonly group: Group
  /** Absent: all. */
  readonly campaign?: number | undefined
}

/** UTC days, both inclusive. */
export interface Range {
  readonly from: string
  readonly to: string
}

/** A refused call. `message` is the service's own sentence; `faults` lists its parts by field. */
class CallError extends Error {
  override name = 'CallError'
  readonly status: number
  readonly faults: readonly Fault[]
  constructor(status: number, message: string, faults: readonly Fault[] = []) {
    super(message)
    this.status = status
    this.faults = faults
  }
}

export const faultsOf = (error: unknown): readonly Fault[] =>
  error instanceof CallError ? error.faults : []

/** Whether the same call would fail again. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof CallError && error.status >= 400 && error.status < 500

export const isNotLoggedIn = (error: unknown): boolean =>
  error instanceof CallError && error.status === 401

/** Whether the record has changed since the page loaded it. */
export const isConflict = (error: unknown): boolean =>
  error instanceof CallError && error.status === 412

/** Nothing is left to do: the record is in that state already. */
export const isDoneAlready = (error: unknown): boolean =>
  error instanceof CallError && error.status === 409

export const api = {
  me: async () => remember(await first<User>('/api/v1/me/')),
  logOut: () => call<object>(SESSION, { method: 'DELETE' }),
  /** For people of the network, who may look into every organization. */
  organizationName: async (kind: 'publisher' | 'merchant', id: number) =>
    (await first<{ name: string }>(`/api/v1/network/${kind}s/${id}/`)).name,
  performance: (merchId: number, range: Range, asked: PerformanceQuery) =>
    all<Performance>(`${ofMerchant(merchId)}/performance/?${days(range, performanceQuery(asked))}`),
  campaigns: (merchId: number) => all<Campaign>(`${ofMerchant(merchId)}/campaigns/?${LONGEST}`),
  campaign: (merchId: number, id: number) =>
    first<Campaign>(`${ofMerchant(merchId)}/campaigns/${id}/`),
  createCampaign: (merchId: number, body: CampaignBody) =>
    post<NewCampaign>(`${ofMerchant(merchId)}/campaigns/`, body),
  updateCampaign: ({ merch_id, campaign_id, etag = '*' }: Campaign, body: CampaignBody) =>
    send<Campaign>(`${ofMerchant(merch_id)}/campaigns/${campaign_id}/`, 'PATCH', body, etag),
  turnCampaign: (merchId: number, id: number, turn: 'pause' | 'resume') =>
    post<Campaign>(`${ofMerchant(merchId)}/campaigns/${id}/${turn}/`, {}),
  merchantOverview: (merchId: number, range: Range) =>
    first<MerchantOverview>(`${ofMerchant(merchId)}/overview/?${days(range)}`),
  entries: (merchId: number, range: Range, cursor: string | null) =>
    first<AccountPage>(`${ofMerchant(merchId)}/entries/?${days(range, { cursor })}`),
  merchantReceipt: (result: string) => first<Explanation>(`/api/v1/auction_results/${result}/`),
  merchantOrder: (merchId: number, orderId: string) =>
    first<MerchantOrder>(`${ofMerchant(merchId)}/orders/${encodeURIComponent(orderId)}/`),
  refused: (merchId: number) => all<Refusal>(`${ofMerchant(merchId)}/refused_reports/`),
  publisherSettings: (pubId: number) => first<PublisherSettings>(`${ofPublisher(pubId)}/settings/`),
  changePublisherSettings: ({ pub_id, etag }: PublisherSettings, body: SettingsBody) =>
    send<PublisherSettings>(`${ofPublisher(pub_id)}/settings/`, 'PATCH', body, etag),
  overview: (pubId: number, range: Range) =>
    first<Overview>(`${ofPublisher(pubId)}/overview/?${days(range)}`),
  clicks: (pubId: number, range: Range, more: { outcome: string | null; cursor: string | null }) =>
    first<ClickPage>(`${ofPublisher(pubId)}/clicks/?${days(range, more)}`),
  orders: (pubId: number, range: Range, cursor: string | null) =>
    first<OrderPage>(`${ofPublisher(pubId)}/orders/?${days(range, { cursor })}`),
  returns: (pubId: number, range: Range, cursor: string | null) =>
    first<ReturnPage>(`${ofPublisher(pubId)}/returns/?${days(range, { cursor })}`),
  noFill: (pubId: number, date: string) =>
    first<NoFill>(`${ofPublisher(pubId)}/no_fill_sample/?${query({ date })}`),
  payments: (pubId: number) => first<Payments>(`${ofPublisher(pubId)}/payments/`),
  /** An order by its ID, for its publisher or its merchant. */
  order: ({ kind, id }: { kind: 'publisher' | 'merchant'; id: number }, orderId: string) =>
    first<{ ordered_at: string }>(`/api/v1/${kind}s/${id}/orders/${encodeURIComponent(orderId)}/`),
  links: (pubId: number, asked: { search: string | null; cursor: string | null }) =>
    first<LinkPage>(`${ofPublisher(pubId)}/link_search/?${query(asked)}`),
  createLink: (pubId: number, body: CreateSmartLinkBody) =>
    post<SmartLink>('/api/v1/smart_links/', { ...body, pub_id: pubId }),
  receipt: (result: string) => first<Receipt>(`/api/v1/receipts/${encodeURIComponent(result)}/`),
}

/** The URL of a month's statement, as a page to print or as a file. */
export const statementUrl = (
  { pub_id: pubId, month }: Payments['statements'][number],
  format: 'html' | 'csv',
): string => `${ofPublisher(pubId)}/statements/${month}/?format=${format}`

/** The URL of a CSV file with all entries of a merchant's account in a range of days. */
export const ledgerUrl = (merchId: number, range: Range): string =>
  `${ofMerchant(merchId)}/ledger/?${days(range, { format: 'csv' })}`

/** A page of a list as long as the API allows. */
export const LONGEST = 'limit=500'

export const SESSION = '/api/v1/session/'
const ofPublisher = (pubId: number): string => `/api/v1/publishers/${pubId}`

export const ofMerchant = (merchId: number): string => `/api/v1/merchants/${merchId}`

const days = ({ from, to }: Range, more: Record<string, string | null> = {}) =>
  query({ date_from: from, date_to: to, ...more })

const performanceQuery = ({ group, campaign }: PerformanceQuery) => ({
  ...{ group_by: group, limit: '500' },
  campaign_id: campaign === undefined ? null : String(campaign),
})

/** Parameters that are null are omitted. */
function query(asked: Record<string, string | null>): URLSearchParams {
  const pairs = Object.entries(asked)
  return new URLSearchParams(pairs.flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

/** Sent with every change; known since the log-in or the first `api.me()`. */
let csrfToken: string | null = null

export function remember(user: User): User {
  csrfToken = user.csrf_token
  return user
}

export async function first<T>(path: string): Promise<T> {
  const [entry] = await call<T>(path)
  return entry as T
}

export const all = <T>(path: string): Promise<T[]> => call<T>(path)

/** A page of a list, and the cursor of the next one. */
export async function page<T>(path: string): Promise<{ rows: T[]; next: string | null }> {
  const { data, next_cursor = null } = await ask<T>(path)
  return { rows: data, next: next_cursor }
}

/** All pages of a list that people read as a whole. */
export async function everything<T>(path: string): Promise<T[]> {
  const found: T[] = []
  let cursor: string | null = null
  do {
    const next: string = cursor === null ? '' : `&cursor=${cursor}`
    const mark: string = path.includes('?') ? '&' : '?'
    const part: { rows: T[]; next: string | null } = await page<T>(
      `${path}${mark}${LONGEST}${next}`,
    )
    found.push(...part.rows)
    cursor = part.next
  } while (cursor !== null)
  return found
}

export const post = <T>(path: string, body: object): Promise<T> => send(path, 'POST', body)

/** For calls that answer a list. */
export const postAll = <T>(path: string, body: object): Promise<T[]> =>
  call<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Sends a change; with an etag it is refused if the record has changed meanwhile. */
export async function send<T>(
  path: string,
  method: 'POST' | 'PATCH' | 'PUT',
  body: object,
  etag?: string,
): Promise<T> {
  const headers = {
    'content-type': 'application/json',
    ...(etag === undefined ? {} : { 'if-match': etag }),
  }
  const [entry] = await call<T>(path, { method, headers, body: JSON.stringify(body) })
  return entry as T
}

interface Envelope<T> {
  readonly data: T[]
  readonly next_cursor?: string | null
  readonly error?: { readonly message: string; readonly data: readonly Fault[] | null }
}

const ENDED = 'Your session had ended. Try again.'

/** Longer than any page takes to load. It also ends a connection that broke silently. */
const TIMEOUT_MS = 20_000

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export async function call<T>(path: string, init: Sent = {}): Promise<T[]> {
  return (await ask<T>(path, init)).data
}

/** The rows of a list as a CSV file. */
export async function readCsv(path: string): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(path, { headers: { accept: 'text/csv' }, signal }).catch(noAnswer)
  if (response.ok) return response.text()
  throw await errorOf(response)
}

/** Reports an unreachable service; such calls are retried. */
export function noAnswer(): never {
  throw new CallError(0, 'The service does not respond. It may be restarting.')
}

/** Reports that the service no longer has this tab's version of the dashboard. */
export function outdated(): never {
  throw new CallError(404, 'This page is older than the service. Reload it.')
}

async function ask<T>(path: string, init: Sent = {}): Promise<Envelope<T>> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const headers = { ...init.headers, ...(csrfToken && { 'x-souk-csrf': csrfToken }) }
  const response = await fetch(path, { ...init, headers, signal }).catch(noAnswer)
  if (!response.ok) throw await errorOf(response, path === SESSION && init.method === 'POST')
  const body = await (response.json() as Promise<Envelope<T>>).catch(() => null)
  // A response cut off halfway counts as none.
  return body?.data === undefined ? noAnswer() : body
}

async function errorOf(response: Response, isLogIn = false): Promise<CallError> {
  const body = await (response.json() as Promise<Envelope<unknown>>).catch(() => null)
  const wait = response.headers.get('retry-after') ?? ''
  return refusal(response.status, body, { wait, isLogIn })
}

function refusal(
  status: number,
  body: Envelope<unknown> | null,
  { wait = '', isLogIn = false }: { readonly wait?: string; readonly isLogIn?: boolean } = {},
): CallError {
  const { message = `The service responded with status ${status}`, data } = body?.error ?? {}
  // A proxy may send a date instead of seconds.
  const isTooOften = status === 429 && /^\d+$/.test(wait)
  const words = isTooOften ? tooOften(Number(wait)) : message
  // Shown after the user has logged in again.
  return new CallError(status, status === 401 && !isLogIn ? ENDED : words, data ?? [])
}

/** Sends a file from disk, and reports how much of it has been sent, from 0 to 1. */
export function upload<T>(
  path: string,
  file: Blob,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<T> {
  // `fetch` does not report the progress of a body.
  const request = new XMLHttpRequest()
  return new Promise((resolve, reject) => {
    request.open('POST', path)
    request.responseType = 'json'
    if (csrfToken !== null) request.setRequestHeader('x-souk-csrf', csrfToken)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total)
    request.onerror = () => reject(new CallError(0, 'The upload broke off. Try again.'))
    request.onabort = () => reject(new CallError(0, 'You stopped the upload. Nothing has changed.'))
    request.onload = () => {
      const body = request.response as Envelope<T> | null
      const entry = body?.data?.[0]
      const isOk = request.status >= 200 && request.status < 300
      if (isOk && entry !== undefined) resolve(entry)
      else reject(refusal(request.status, body))
    }
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}

function tooOften(seconds: number): string {
  const minutes = `${Math.ceil(seconds / 60)} minutes`
  const wait = seconds > 120 ? minutes : seconds === 1 ? 'a second' : `${seconds} seconds`
  return `Too many requests. Try again in ${wait}.`
}
