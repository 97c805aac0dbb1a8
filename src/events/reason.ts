/**
 * Reasons why a click or an impression is not counted or not paid, for log, API and reports.
 *
 * The edge assigns the first ones, for which it needs no other data. The fold assigns those that
 * depend on earlier events. Numbers are stored, so never reuse one.
 */
import { snakeCase } from '../platform/text/snake-case.ts'

export const REASON = {
  ok: 0,
  // Assigned by the edge.
  sealBroken: 1, // or the destination was altered, which the seal covers. 2 is unused.
  robot: 3, // a declared robot, or an empty user agent
  prefetch: 4, // prefetched by a browser, without a click
  tooFast: 5, // under 300 ms after its auction
  unfunded: 6, // no budget lease could cover the price
  blockedAddress: 7, // on the operator's IP_BLOCKLIST
  rateLimited: 8, // more redirects per second than a person can make
  unknownLink: 9, // a well-formed auction id without a link
  foreignLink: 10, // another publisher's auction id
  disabledLink: 11,
  spooledLate: 12, // reached the log after its lease was closed or lost
  embedded: 13, // loaded into a frame, an image or a script, and not as a page
  suspended: 14, // the operator has suspended the publisher or the merchant
  // Given by the fold, and the first by an edge that remembers the earlier click.
  duplicateResult: 20, // an earlier reserved click of the same result
  duplicateVisitor: 21, // the same reader, campaign and link within 30 minutes
  visitorLimit: 22, // over 5 valid clicks of a reader an hour for a campaign
  reversed: 23, // found invalid later
  scanner: 24, // over 3 valid clicks without our cookie in 10 s from one address and user agent
  addressLimit: 25, // over the campaign's limit of valid clicks per address unit, hour or day
} as const

const NAMES = new Map<number, string>(
  Object.entries(REASON).map(([name, code]) => [code, snakeCase(name)]),
)

/** `21` → `"duplicate_visitor"`, the word in reports and metrics. */
export function reasonName(code: number): string {
  return NAMES.get(code) ?? `reason_${code}`
}

/** The current verdict on a click: the fold's reason, unless it was reversed since. */
export function verdictOf(click: {
  readonly reason: number
  readonly reversed_at: Date | null
}): number {
  return click.reversed_at === null ? click.reason : REASON.reversed
}
