/** The API calls of the operator: organizations, people, money and the state of the network. */
import type { Static } from 'typebox'
import type { FlaggedClicksRecord } from '../src/operator/flagged-click-operations.ts'
import type { HealthRecord, HealthSampleRecord } from '../src/operator/health-operations.ts'
import type { HeldOrderRecord } from '../src/operator/held-order-operations.ts'
import type { JobRecord, ReconciliationRecord } from '../src/operator/job-operations.ts'
import type { MerchantChangesBody, NewMerchantBody } from '../src/operator/merchant-body.ts'
import type { ListedMerchant, SecretRecord } from '../src/operator/merchant-operations.ts'
import type {
  AgeingRecord,
  PaymentRecord,
  RecordedPayment,
} from '../src/operator/payment-operations.ts'
import type { PayoutRecord } from '../src/operator/payout-operations.ts'
import type { NewPublisherBody, PublisherChangesBody } from '../src/operator/publisher-body.ts'
import type { ListedPublisher } from '../src/operator/publisher-operations.ts'
import type { RateRecord, SetRates } from '../src/operator/rate-operations.ts'
import type { ReversedClickRecord } from '../src/operator/reversal-operations.ts'
import type { ListedUser, NewUserBody, UserChangesBody } from '../src/operator/user-operations.ts'
import { call, everything, first, page, post, send } from './api.ts'

export type NetworkPublisher = Static<typeof ListedPublisher>
export type NetworkMerchant = Static<typeof ListedMerchant>
export type NetworkUser = Static<typeof ListedUser>
export type FlaggedClicks = Static<typeof FlaggedClicksRecord>
export type HeldOrder = Static<typeof HeldOrderRecord>
export type Ageing = Static<typeof AgeingRecord>
export type Payment = Static<typeof PaymentRecord>
export type Payout = Static<typeof PayoutRecord>
export type Rate = Static<typeof RateRecord>
export type ReversedClick = Static<typeof ReversedClickRecord>
export type Health = Static<typeof HealthRecord>
export type HealthSample = Static<typeof HealthSampleRecord>
export type Job = Static<typeof JobRecord>
export type Reconciliation = Static<typeof ReconciliationRecord>
export type NewPublisher = Static<typeof NewPublisherBody>
export type PublisherChanges = Static<typeof PublisherChangesBody>
export type NewMerchant = Static<typeof NewMerchantBody>
export type MerchantChanges = Static<typeof MerchantChangesBody>
export type NewUser = Static<typeof NewUserBody>
export type UserChanges = Static<typeof UserChangesBody>
/** A record with the etag that a change of it sends back. */
export type Tagged<T> = T & { readonly etag: string }
export type OrganizationKind = 'publishers' | 'merchants' | 'users'

const NETWORK = '/api/v1/network'

export const network = {
  publishers: () => everything<NetworkPublisher>(`${NETWORK}/publishers/`),
  publisher: (id: number) => first<Tagged<NetworkPublisher>>(`${NETWORK}/publishers/${id}/`),
  createPublisher: (body: NewPublisher) => post<NetworkPublisher>(`${NETWORK}/publishers/`, body),
  changePublisher: (id: number, body: PublisherChanges, etag: string) =>
    send<NetworkPublisher>(`${NETWORK}/publishers/${id}/`, 'PATCH', body, etag),
  merchants: () => everything<NetworkMerchant>(`${NETWORK}/merchants/`),
  merchant: (id: number) => first<Tagged<NetworkMerchant>>(`${NETWORK}/merchants/${id}/`),
  createMerchant: (body: NewMerchant) =>
    post<Static<typeof SecretRecord>>(`${NETWORK}/merchants/`, body),
  changeMerchant: (id: number, body: MerchantChanges, etag: string) =>
    send<NetworkMerchant>(`${NETWORK}/merchants/${id}/`, 'PATCH', body, etag),
  users: () => everything<NetworkUser>(`${NETWORK}/users/`),
  user: (uid: number) => first<Tagged<NetworkUser>>(`${NETWORK}/users/${uid}/`),
  createUser: (body: NewUser) => post<NetworkUser>(`${NETWORK}/users/`, body),
  changeUser: (uid: number, body: UserChanges, etag: string) =>
    send<NetworkUser>(`${NETWORK}/users/${uid}/`, 'PATCH', body, etag),
  resetSecondFactors: (uid: number) =>
    call<object>(`${NETWORK}/users/${uid}/second_factors/`, { method: 'DELETE' }),
  passwordLink: (uid: number) =>
    post<{ reset_url: string }>(`${NETWORK}/users/${uid}/password_reset/`, {}),
  suspend: (kind: OrganizationKind, id: number, isSuspended: boolean) =>
    post<object>(`${NETWORK}/${kind}/${id}/${isSuspended ? 'suspend' : 'resume'}/`, {}),
  heldOrders: () => everything<HeldOrder>(`${NETWORK}/orders/held/`),
  approveOrder: (orderId: string) => post<object>(`${NETWORK}/orders/held/${orderId}/approve/`, {}),
  rejectOrder: (orderId: string, reason: string) =>
    post<object>(`${NETWORK}/orders/held/${orderId}/reject/`, { reason }),
  ageing: () => everything<Ageing>(`${NETWORK}/ageing/`),
  payments: (cursor: string | null) => page<Payment>(`${NETWORK}/payments/?${part(cursor)}`),
  recordPayment: (body: PaymentBody) =>
    post<Static<typeof RecordedPayment>>(`${NETWORK}/payments/`, body),
  reversePayment: (paymentId: string, reason: string) =>
    post<object>(`${NETWORK}/payments/${paymentId}/reverse/`, { reason }),
  payouts: () => everything<Payout>(`${NETWORK}/payouts/`),
  confirmPayout: (statementId: string, body: { paid_on: string; reference: string | null }) =>
    post<object>(`${NETWORK}/payouts/${encodeURIComponent(statementId)}/confirm/`, body),
  issueStatements: () =>
    call<object>(`${NETWORK}/statements/`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
    }),
  rates: (cursor: string | null, currency: string) =>
    page<Rate>(
      `${NETWORK}/rates/?${part(cursor)}${currency === '' ? '' : `&currency=${currency}`}`,
    ),
  setRates: (body: { source: string; rates: RateBody[] }) =>
    post<Static<typeof SetRates>>(`${NETWORK}/rates/`, body),
  reversals: (cursor: string | null) =>
    page<ReversedClick>(`${NETWORK}/reversals/?${part(cursor)}`),
  reverseClicks: (body: { reason: string } & Readonly<Record<string, string>>) =>
    post<{ clicks: string[] }>(`${NETWORK}/reversals/`, body),
  flaggedClicks: () => everything<FlaggedClicks>(`${NETWORK}/flagged_clicks/`),
  health: () => first<Health>(`${NETWORK}/health/`),
  healthHistory: () => everything<HealthSample>(`${NETWORK}/health/history/`),
  jobs: () => everything<Job>(`${NETWORK}/jobs/`),
  runJob: (job: string) => post<Job>(`${NETWORK}/jobs/${encodeURIComponent(job)}/run/`, {}),
  reconciliations: (cursor: string | null) =>
    page<Reconciliation>(`${NETWORK}/reconciliation/?${part(cursor)}`),
  reconcile: () => post<Job>(`${NETWORK}/reconciliation/run/`, {}),
  settings: () =>
    everything<{ name: string; value: string | null; is_secret: boolean }>(`${NETWORK}/settings/`),
  /** Without a body: a body would be the feed itself. */
  importFeed: (merchId: number) =>
    call<object>(`/api/v1/merchants/${merchId}/feed/imports/`, { method: 'POST' }),
}

export interface PaymentBody {
  readonly merch_id: number
  readonly amount_usd: string
  readonly paid_on: string
  readonly reference: string
}

export interface RateBody {
  readonly day: string
  readonly currency: string
  readonly currency_per_base: string
}

/** The URL of a month's payout file. */
export const payoutFileUrl = (month: string): string =>
  `${NETWORK}/payouts/file/?month=${encodeURIComponent(month)}`

const PAGE = 100
const part = (cursor: string | null): string =>
  `limit=${PAGE}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
