/**
 * Decides the requests of a node: the terms of its leases, without I/O.
 *
 * A request is absolute ("spent s, keep h, want w"), never a difference, so repeating or losing one
 * does no harm. Returning money is safe because the local grant is cut to `hold` before the request
 * is sent: whatever happens to the message, the database never reserves less than the node may
 * spend.
 */
import assert from 'node:assert/strict'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

/**
 * How long a lease may be spent without an answer from the database (docs/spec/budgets.md#leases).
 */
export const LEASE_TTL_MS = 30_000
/** Scheduling delay and clock drift that a node allows for before it stops (B3). */
export const LEASE_SKEW_MS = 2_000
/** Renewed when this much time is left: room for a dozen failed statements. */
const RENEW_BELOW_MS = 12_000
/**
 * Request interval of a campaign without a further grant, so that exhausted ones do not fill the
 * batch.
 */
const RETRY_EMPTY_MS = 2_000
/** A click's unavailable price is not requested again within this time. */
const RETRY_IMMEDIATE_MS = 1_000
/** A grant that arrived too late for its click stays this long for the node's next ones. */
const LATE_MS = 10_000
/** Tomorrow's leases are requested this long before midnight, so the day changes without a gap. */
const AHEAD_OF_MIDNIGHT_MS = 20_000
/** Lease over the expected spending during one lease. */
const SIZE_FACTOR = 1.5
/** Clicks payable in a sudden burst; a crash ties up this much until it is drained. */
const BURST_CLICKS = 100
/**
 * Returned only when well above the need; otherwise small changes would write a lease every second.
 */
const SURPLUS_FACTOR = 2
/** Spreads renewals over different seconds, or a thousand would share one batch. */
const RENEW_SPREAD_SECONDS = 8

/**
 * Renewal interval of an idle campaign with a large budget: 9,000 of them caused 750 updates a
 * second. Meanwhile others do not count on the money it holds, as if its node were silent.
 */
const IDLE_MS = 120_000
/** Spreads these renewals too. */
const IDLE_SPREAD_SECONDS = 60
/**
 * Expected clicks in a lease time: from a minute after its last click, which the fold has read by
 * then.
 */
const IDLE_CLICKS = 0.1

/** One request; all campaigns share a batch. */
export interface LeaseRequest {
  readonly campaignId: number
  readonly day: string // YYYY-MM-DD, UTC
  readonly leaseId: number // 0: none yet
  readonly spentMicros: number // reserved from this lease so far
  readonly holdMicros: number // the grant to keep; the rest is returned
  readonly wantMicros: number // the desired grant, >= hold
  readonly priceMaxMicros: number
  readonly isFinal: boolean // the day is over: spent is final
  /** For a waiting click: granted even where too little is left to share. */
  readonly immediateMicros: number
  /** Estimated cost of this node's open results. */
  readonly inFlightMicros: number
}

/** The database's answer to one request. */
export interface LeaseGrant {
  readonly campaignId: number
  readonly day: string
  readonly leaseId: number
  readonly grantedMicros: number // in total, since the lease was created
  readonly fairMicros: number // what this node may hold unspent, given all live nodes
  readonly refillableMicros: number // unleased: any node's click can request it
  /** Estimated cost of other nodes' open results. */
  readonly inFlightElsewhereMicros: number
}

/** A lease as its node knows it. Mutable: the book spends it. */
export interface HeldLease {
  readonly dayNumber: number // UTC days since 1970
  leaseId: number // 0 until first granted
  grantedMicros: number // its total spending limit
  bookedMicros: number // the amount last known to be reserved in the database
  spentMicros: number
  fairMicros: number
  refillableMicros: number
  inFlightElsewhereMicros: number
  askedAtMs: number // when the last answer about it was requested
  usableUntilMs: number
  isIdle: boolean // renewed by any answer: its node lives, so the lease does
  retryAtMs: number
  immediateMicros: number // requested for waiting clicks
  immediateFromMs: number // not before this: the database had nothing
  lateMicros: number // granted for waiting clicks, some of which may have gone unpaid
  lateUntilMs: number // until then it stays for this node's next clicks
  isRecalled: boolean // the unspent part is requested again: the budget changed, or others need it
}

/** What a campaign needs its leases for. */
export interface LeaseNeeds {
  readonly campaignId: number
  readonly priceMaxMicros: number
  readonly isWanted: boolean // false: hold only the price of waiting clicks
  readonly microsPerMs: number // recent spending of this node
  readonly reserveMicros: number // for the open results of all nodes
  readonly inFlightMicros: number // of this node's
  readonly nowMs: number
}

/** The UTC day of an instant, in days since 1970. */
export function dayNumberOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS)
}

/** `20000` → `"2024-10-04"`. */
export function dayText(dayNumber: number): string {
  return utcDay(dayNumber * DAY_MS)
}

/**
 * Lists the current requests for a campaign's leases, at most one increase among them: its days
 * share the total budget, so two increases at once would be promised the same money. Creates the
 * record of a new day in `leases`, and cuts the local grant of each requested lease to the
 * request's `hold`.
 */
export function requestsOf(leases: HeldLease[], needs: LeaseNeeds): LeaseRequest[] {
  const today = dayNumberOf(needs.nowMs)
  if (needs.isWanted) {
    openDay(leases, today)
    if ((today + 1) * DAY_MS - needs.nowMs <= AHEAD_OF_MIDNIGHT_MS) openDay(leases, today + 1)
  }
  const requests: LeaseRequest[] = []
  let hasRaise = false
  for (const lease of leases) {
    lease.isIdle = false
    const isFinal = lease.dayNumber < today
    const isLeaving = isFinal || (!needs.isWanted && lease.immediateMicros === 0)
    if (!isLeaving && hasRaise) continue
    const terms = isLeaving ? returnTerms(lease, isFinal, needs.nowMs) : desiredTerms(lease, needs)
    if (terms === null) continue
    hasRaise ||= !isLeaving
    assert(terms.holdMicros >= lease.spentMicros && terms.wantMicros >= terms.holdMicros)
    lease.grantedMicros = Math.min(lease.grantedMicros, terms.holdMicros)
    requests.push({
      campaignId: needs.campaignId,
      day: dayText(lease.dayNumber),
      leaseId: lease.leaseId,
      spentMicros: lease.spentMicros,
      holdMicros: terms.holdMicros,
      wantMicros: terms.wantMicros,
      priceMaxMicros: needs.priceMaxMicros,
      isFinal,
      immediateMicros: isLeaving ? 0 : lease.immediateMicros,
      inFlightMicros: needs.inFlightMicros,
    })
    lease.immediateMicros = 0
    lease.isRecalled = false
  }
  return requests
}

/** Applies the answer to one request (null: none); returns the remaining leases. */
export function applyGrant(
  leases: HeldLease[],
  request: LeaseRequest,
  grant: LeaseGrant | null,
  { sentAtMs, nowMs }: { sentAtMs: number; nowMs: number },
): HeldLease[] {
  const lease = leases.find((held) => dayText(held.dayNumber) === request.day)
  if (lease === undefined) return leases
  lease.askedAtMs = sentAtMs
  if (request.isFinal) return leases.filter((held) => held !== lease)
  const isAnother = grant?.leaseId !== lease.leaseId
  if (grant === null || (!isAnother && grant.grantedMicros < lease.spentMicros)) {
    // Nothing could be reserved, or the lease was closed elsewhere, or the database has lost its
    // grants. Its id and spending stay known: if it returned, its spent part must not be spent
    // again.
    lease.grantedMicros = lease.spentMicros
    lease.fairMicros = 0
    lease.refillableMicros = 0
    lease.usableUntilMs = 0
    lease.retryAtMs = nowMs + RETRY_EMPTY_MS
    return leases
  }
  // Another lease than the requested one is new: nothing of it is spent yet.
  if (isAnother) lease.spentMicros = 0
  const spentBefore = grant.leaseId === request.leaseId ? request.spentMicros : 0
  lease.leaseId = grant.leaseId
  lease.grantedMicros = grant.grantedMicros
  lease.bookedMicros = grant.grantedMicros
  lease.fairMicros = Math.max(0, grant.fairMicros - (lease.spentMicros - spentBefore))
  if (request.immediateMicros > 0) {
    lease.lateMicros = request.immediateMicros
    lease.lateUntilMs = nowMs + LATE_MS
  }
  // Less later requests of clicks.
  lease.refillableMicros = Math.max(0, grant.refillableMicros - lease.immediateMicros)
  lease.inFlightElsewhereMicros = grant.inFlightElsewhereMicros
  if (grant.grantedMicros < spentBefore + request.immediateMicros) {
    lease.immediateFromMs = nowMs + RETRY_IMMEDIATE_MS
    lease.refillableMicros = 0
  }
  lease.usableUntilMs = sentAtMs + LEASE_TTL_MS - LEASE_SKEW_MS
  lease.retryAtMs = grant.grantedMicros < request.wantMicros ? nowMs + RETRY_EMPTY_MS : 0
  return leases
}

/** Renews idle leases: an answer shows that their node lives. */
export function renewIdle(leases: readonly HeldLease[], sentAtMs: number): void {
  for (const lease of leases) {
    if (lease.isIdle) lease.usableUntilMs = sentAtMs + LEASE_TTL_MS - LEASE_SKEW_MS
  }
}

/** The record of a day's lease, created if needed. */
export function openDay(leases: HeldLease[], dayNumber: number): HeldLease {
  const known = leases.find((lease) => lease.dayNumber === dayNumber)
  if (known !== undefined) return known
  const opened = {
    dayNumber,
    leaseId: 0,
    grantedMicros: 0,
    bookedMicros: 0,
    spentMicros: 0,
    fairMicros: 0,
    refillableMicros: 0,
    inFlightElsewhereMicros: 0,
    askedAtMs: 0,
    usableUntilMs: 0,
    isIdle: false,
    retryAtMs: 0,
    immediateMicros: 0,
    immediateFromMs: 0,
    lateMicros: 0,
    lateUntilMs: 0,
    isRecalled: false,
  }
  leases.push(opened)
  return opened
}

type Terms = { holdMicros: number; wantMicros: number } | null

/**
 * Returns the lease of an ended day or campaign, except its spent part. Also asks for a day without
 * a known lease: an answer may have been lost, and nobody else could return its grant, which would
 * be missing from the campaign's total budget as long as the node runs.
 */
function returnTerms(lease: HeldLease, isFinal: boolean, nowMs: number): Terms {
  // A campaign just paused still pays the clicks of its last results until the lease expires.
  const isRunning = nowMs < lease.usableUntilMs
  if (!isFinal && (isRunning || lease.bookedMicros === lease.spentMicros)) return null
  return { holdMicros: lease.spentMicros, wantMicros: lease.spentMicros }
}

/** Renews, enlarges or trims a live lease when due; null when it is not. */
function desiredTerms(lease: HeldLease, needs: LeaseNeeds): Terms {
  const { campaignId, priceMaxMicros, reserveMicros, microsPerMs, nowMs } = needs
  const unspent = lease.grantedMicros - lease.spentMicros
  const need = needs.isWanted
    ? Math.max(
        Math.ceil(SIZE_FACTOR * microsPerMs * LEASE_TTL_MS),
        BURST_CLICKS * priceMaxMicros,
        reserveMicros + priceMaxMicros,
      )
    : 0
  // A node keeps nothing above its fair share: a click that then lacks money requests its own
  // price. But where answers take longer than clicks wait, a grant for one click pays the next one.
  const late = nowMs < lease.lateUntilMs ? Math.min(unspent, lease.lateMicros) : 0
  const keep = Math.max(Math.min(need, lease.fairMicros), late)
  const renewBelowMs = RENEW_BELOW_MS + (campaignId % RENEW_SPREAD_SECONDS) * 1000
  const isSurplus = lease.leaseId !== 0 && unspent > SURPLUS_FACTOR * keep
  const isEmpty = unspent < reserveMicros + priceMaxMicros
  const isLow = unspent < need / 2 && (isEmpty || lease.fairMicros > unspent)
  const isOld = lease.usableUntilMs - nowMs < renewBelowMs
  const isIdle = mayIdle(lease, needs, need)
  // A lease that wakes is requested at once: its last answer is old, and may be of a lost database.
  const isStale = !isIdle && nowMs - lease.askedAtMs > LEASE_TTL_MS
  const isImmediate = lease.immediateMicros > 0
  const isRecalled = lease.isRecalled && (late === 0 || unspent > late)
  const isDue = (isLow || isStale || (isOld && !isIdle)) && nowMs >= lease.retryAtMs
  if (!isImmediate && !isSurplus && !isRecalled && !isDue) {
    lease.isIdle = isOld && isIdle
    return null
  }
  // A lowered budget applies at once: otherwise a lease would spend the old one to its end.
  const hold = lease.spentMicros + (lease.isRecalled ? late : Math.min(unspent, keep))
  const want = lease.spentMicros + Math.max(need, lease.immediateMicros)
  return { holdMicros: hold, wantMicros: Math.max(hold, want) }
}

/** Whether a live lease may idle: it is hardly used, and the budget has more for others. */
function mayIdle(lease: HeldLease, needs: LeaseNeeds, needMicros: number): boolean {
  const { campaignId, priceMaxMicros, microsPerMs, inFlightMicros, nowMs } = needs
  const idleMs = IDLE_MS + (campaignId % IDLE_SPREAD_SECONDS) * 1000
  return (
    nowMs < lease.usableUntilMs &&
    nowMs - lease.askedAtMs < idleMs &&
    inFlightMicros < IDLE_CLICKS * priceMaxMicros &&
    microsPerMs * LEASE_TTL_MS < IDLE_CLICKS * priceMaxMicros &&
    lease.refillableMicros >= needMicros
  )
}
