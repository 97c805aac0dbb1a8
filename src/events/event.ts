/**
 * The events of the log: one flat record each, the columns of table `event`.
 *
 * Flat and typed instead of a document per type: the edge fills records of one shape (no hidden
 * classes), the log writes arrays of columns, and reconcile reads plain SQL. A field that a type
 * does not use is null. No field ever holds a raw address, session or visitor id (only keyed
 * hashes), or a reader's e-mail address or name.
 */

/** Numbers are stored: never reuse one. */
export const EVENT_TYPE = {
  pageImpression: 1,
  linkImpression: 2,
  linkViewable: 3,
  placement: 4, // The impression pixel of an auction result.
  shopView: 5, // A page of a shop, seen by a visitor who came through a smart link.
  click: 10,
  leaseClose: 11, // A node's message that it stops spending these leases.
  order: 12,
  orderReturn: 13,
  reversal: 14,
  networkRow: 15, // A row imported from another network.
  payment: 16,
  orderDecision: 17, // The operator approved a held order, or rejected an order.
  paymentReversal: 18, // A merchant's payment that bounced or was a mistake.
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
/** All lanes. */
export const LANES: readonly number[] = [MONEY_LANE, ...VIEW_LANES]

/** View events of one publisher stay in order; money has one total order. */
export function viewLane(pubId: number): number {
  return 1 + (pubId % VIEW_LANES.length)
}

/**
 * The fields of an event besides its time, each with the type of its column. Everything that moves
 * events uses this table, so a new field is added only here. `id` is a bigint as decimal digits,
 * beyond the range of JavaScript numbers.
 */
export const FIELD_TYPES = {
  id: 'id', // Time-ordered, assigned once at acceptance; a retry writes the same id.
  lane: 'smallint',
  type: 'smallint',
  reason: 'smallint', // The edge's verdict, see reason.ts; 0 means no objection.
  pubId: 'integer',
  sessionKey: 'bytea',
  auctionId: 'id',
  resultNumber: 'bytea',
  merchId: 'integer',
  campaignId: 'integer',
  offerId: 'id',
  // The sealed pay terms as two numbers (pay-terms.ts): the amount's unit depends on the model.
  model: 'smallint',
  termsAmount: 'bigint',
  sharePpm: 'integer',
  leaseId: 'id',
  reservedMicros: 'bigint',
  clickId: 'bytea',
  visitorKey: 'bytea',
  // The keyed hash of the address unit (an IPv4 address, or the /64 of IPv6) until its key goes.
  addressKey: 'bytea',
  // The rules on paid clicks read these four: docs/spec/clicks.md#rules.
  agentKey: 'bytea', // of address unit and user agent; null: rules by address do not apply
  visitorReturned: 'smallint', // 1: the browser sent our cookie, else 0; null: not a click
  addressHourMax: 'integer', // the campaign's limits per address unit, as of the click
  addressDayMax: 'integer',
  // No payment rule reads this; it helps a person who examines doubtful clicks.
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
  body: 'jsonb', // JSON text of the rare types.
} as const
export type FieldName = keyof typeof FIELD_TYPES
export type FieldType = (typeof FIELD_TYPES)[FieldName]

/** The JavaScript type of each column type. */
interface Values {
  id: string
  text: string
  jsonb: string
  bytea: Buffer
  smallint: number
  integer: number
  bigint: number
}

/** Fields of every event; the UTC day of its acceptance is the event's day. */
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

/** An event as read back, with its place in its lane. */
export interface StoredEvent extends LogEvent {
  seq: string
  day: string // YYYY-MM-DD
}

const BLANK = Object.fromEntries(Object.keys(FIELD_TYPES).map((name) => [name, null]))

/** A new record with every field present, so that all events share one shape. */
export function newEvent(
  fields: Pick<LogEvent, 'id' | 'atMs' | 'lane' | 'type'> & Partial<LogEvent>,
): LogEvent {
  return { ...BLANK, reason: 0, ...fields } as LogEvent
}
