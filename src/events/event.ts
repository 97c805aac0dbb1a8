/**
 * What can happen, as the log keeps it: one flat record per event, the columns of table `event`.
 *
 * Flat and typed rather than a document per type: the edge fills fields of one shape (no hidden
 * classes), the log writes arrays of columns, and reconcile reads plain SQL. A field that a type
 * does not use is null. No field ever holds a raw address, session or visitor id (keyed hashes
 * only), an e-mail or a name of a reader.
 */

/** Numbers are stored: never reuse one. */
export const EVENT_TYPE = {
  pageImpression: 1,
  linkImpression: 2,
  linkViewable: 3,
  placement: 4, // the impression pixel of an auction result
  shopView: 5, // a page of a shop, seen by somebody who came through us
  click: 10,
  leaseClose: 11, // a node's word that it spends these leases no more
  order: 12,
  orderReturn: 13,
  reversal: 14,
  networkRow: 15, // a row imported from another network
  payment: 16,
  orderDecision: 17, // a held order approved, or an order rejected, by the operator
  paymentReversal: 18, // a merchant's payment that the bank took back, or that was a mistake
} as const
export type EventType = (typeof EVENT_TYPE)[keyof typeof EVENT_TYPE]

/** Payment models as stored. */
export const MODEL = { none: 0, cpc: 1, cpa: 2, epp: 3 } as const
export type Model = (typeof MODEL)[keyof typeof MODEL]

/** `2` → `"cpa"`. */
export function modelWord(model: number): string {
  return Object.entries(MODEL).find(([, number]) => number === model)?.[0] ?? 'none'
}

export const MONEY_LANE = 0
export const VIEW_LANES: readonly number[] = Array.from({ length: 15 }, (_, index) => index + 1)
/** Every lane there is. */
export const LANES: readonly number[] = [MONEY_LANE, ...VIEW_LANES]

/** View events of one publisher stay in order; money has one total order for all. */
export function viewLane(pubId: number): number {
  return 1 + (pubId % VIEW_LANES.length)
}

/**
 * The fields of an event beside its time, each with the type of its column. All that moves events
 * follows this table, so a new field is added here and nowhere else; `id` is a bigint as decimal
 * digits, for JavaScript's numbers end before it.
 */
export const FIELD_TYPES = {
  id: 'id', // time-ordered, given once at acceptance; a retry writes the same
  lane: 'smallint',
  type: 'smallint',
  reason: 'smallint', // the edge's verdict, see reason.ts; 0: nothing against it
  pubId: 'integer',
  sessionKey: 'bytea',
  auctionId: 'id',
  resultNumber: 'bytea',
  merchId: 'integer',
  campaignId: 'integer',
  offerId: 'id',
  model: 'smallint',
  // The sealed terms: micros a click (CPC), a purchase (EPP), or a dollar of sale (CPA: its rate).
  priceMicros: 'bigint',
  sharePpm: 'integer',
  leaseId: 'id',
  reservedMicros: 'bigint',
  clickId: 'bytea',
  visitorKey: 'bytea',
  // No rule of payment reads these two: they show whoever looks into doubted clicks how they came.
  addressKey: 'bytea', // the same for an address, of IPv6 its /64, until its key goes
  resultAgeMs: 'bigint',
  device: 'smallint', // 0 unknown, 1 desktop, 2 mobile, 3 tablet
  uaFamily: 'text',
  country: 'text',
  consent: 'smallint', // 0 unknown, 1 full, 2 contextual
  url: 'text',
  urlKey: 'bytea',
  referrer: 'text',
  u1: 'text',
  utmSource: 'text',
  body: 'jsonb', // JSON text of the rare types
} as const
export type FieldName = keyof typeof FIELD_TYPES
export type FieldType = (typeof FIELD_TYPES)[FieldName]

/** What holds a value of a type here. */
interface Values {
  id: string
  text: string
  jsonb: string
  bytea: Buffer
  smallint: number
  integer: number
  bigint: number
}

/** What every event has; its accepted-at's UTC day is the event's day. */
interface Always {
  id: string
  atMs: number
  lane: number
  type: EventType
  reason: number
}

type Others = {
  [Name in Exclude<FieldName, keyof Always>]: Values[(typeof FIELD_TYPES)[Name]] | null
}

export interface LogEvent extends Always, Others {
  model: Model | null
}

/** An event as read back: with its place in the order of its lane. */
export interface StoredEvent extends LogEvent {
  seq: string
  day: string // YYYY-MM-DD
}

const BLANK = Object.fromEntries(Object.keys(FIELD_TYPES).map((name) => [name, null]))

/** A fresh record with every field in place, so that all events share one shape. */
export function newEvent(
  fields: Pick<LogEvent, 'id' | 'atMs' | 'lane' | 'type'> & Partial<LogEvent>,
): LogEvent {
  return { ...BLANK, reason: 0, ...fields } as LogEvent
}
