/**
 * What a node asks for and gives back: the terms of its leases, decided without I/O.
 *
 * A request is absolute ("I have spent s, I keep h, I would like w"), never a difference, so it can
 * be repeated or lost without harm. Giving back is safe because the local grant is cut to `hold`
 * before the request leaves: whatever becomes of the message, the database never has less set
 * aside than the node may spend.
 */
import assert from 'node:assert/strict'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

/** How long a lease may be spent without a word from the database (economics 2.2). */
export const LEASE_TTL_MS = 30_000
/** Scheduling delay and clock drift that a node allows for before it stops (B3). */
export const LEASE_SKEW_MS = 2_000
/** Renewed when this much time is left: room for a dozen failed statements. */
const RENEW_BELOW_MS = 12_000
/** A campaign that gets nothing more asks this seldom, or exhausted ones would crowd the batch. */
const RETRY_DRY_MS = 2_000
/** A click that could not be paid from what is left anywhere is not asked about again so soon. */
const RETRY_URGENT_MS = 1_000
/** What came too late for the click that asked for it is kept so long for this node's next ones. */
const LATE_MS = 10_000
/** Tomorrow's leases are fetched this long before midnight, so the day turns without a gap. */
const AHEAD_OF_MIDNIGHT_MS = 20_000
/** Lease over the spending expected in one lease time (economics 2.2). */
const SIZE_FACTOR = 1.5
/** Clicks payable in a burst nobody saw coming; a crash ties up this much until it is drained. */
const BURST_CLICKS = 100
/** Given back only when well over the need: a lease that breathes would be written every second. */
const SURPLUS_FACTOR = 2
/** Campaigns renew at different seconds, or a thousand of them would all come in one batch. */
const RENEW_SPREAD_SECONDS = 8

/**
 * An idle campaign with plenty elsewhere has its lease written anew this seldom: 9,000 of them made
 * 750 updates a second. Meanwhile others do not count on what it holds, as if it were silent.
 */
const REST_MS = 120_000
/** Nor do all of these come at once. */
const REST_SPREAD_SECONDS = 60
/** Expected in a lease time: a minute after its last click, which the fold has read by then. */
const IDLE_CLICKS = 0.1

/** Asked of the database in one batch for all campaigns. */
export interface LeaseRequest {
  readonly campaignId: number
  readonly day: string // YYYY-MM-DD, UTC
  readonly leaseId: number // 0: none yet
  readonly spentMicros: number // reserved from this lease so far
  readonly holdMicros: number // the grant that stays; what lies above is given back
  readonly wantMicros: number // the grant hoped for, >= hold
  readonly priceMaxMicros: number
  readonly isFinal: boolean // the day is over: spent is all there will ever be
  /** For a click that waits: granted even where too little is left to share. */
  readonly urgentMicros: number
  /** What this node's open results will probably still cost. */
  readonly inFlightMicros: number
}

/** The database's answer to one request. */
export interface LeaseGrant {
  readonly campaignId: number
  readonly day: string
  readonly leaseId: number
  readonly grantedMicros: number // in all, since the lease was made
  readonly fairMicros: number // what this node may hold unspent, all live nodes considered
  readonly refillableMicros: number // in nobody's lease: any node's click can ask for it
  /** What the open results of other nodes will probably still cost. */
  readonly inFlightElsewhereMicros: number
}

/** A lease as its node knows it. Mutable: the book spends it. */
export interface HeldLease {
  readonly dayNumber: number // UTC days since 1970
  leaseId: number // 0 until first granted
  grantedMicros: number // what may be spent of it in all
  bookedMicros: number // what the database was last known to have set aside for it
  spentMicros: number
  fairMicros: number
  refillableMicros: number
  inFlightElsewhereMicros: number
  toldAtMs: number // when the last answer about it was asked for
  usableUntilMs: number
  isResting: boolean // renewed by any answer: its node stands, so the lease does
  retryAtMs: number
  urgentMicros: number // wanted for clicks that wait
  urgentFromMs: number // not before this: the database had nothing
  lateMicros: number // granted for clicks that waited, of which some may have gone unpaid
  lateUntilMs: number // before this nobody else gets that
  isRecalled: boolean // what is unspent is asked for anew: the budget changed, or others need it
}

/** What a campaign's leases are to serve. */
export interface LeaseNeeds {
  readonly campaignId: number
  readonly priceMaxMicros: number
  readonly isWanted: boolean // false: hold nothing but what clicks that wait ask for
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
 * Lists what to ask for a campaign's leases now, at most one raise among them: the total budget is
 * shared by its days, so two days that raised at once would be promised the same money. Opens the
 * record of a new day in `leases`, and cuts the local grant of each lease asked about to what the
 * request says it holds.
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
    lease.isResting = false
    const isFinal = lease.dayNumber < today
    const isLeaving = isFinal || (!needs.isWanted && lease.urgentMicros === 0)
    if (!isLeaving && hasRaise) continue
    const terms = isLeaving ? handIn(lease, isFinal, needs.nowMs) : wish(lease, needs)
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
      urgentMicros: isLeaving ? 0 : lease.urgentMicros,
      inFlightMicros: needs.inFlightMicros,
    })
    lease.urgentMicros = 0
    lease.isRecalled = false
  }
  return requests
}

/** Takes the answer to one request (null: none); returns the leases that remain. */
export function applyGrant(
  leases: HeldLease[],
  request: LeaseRequest,
  grant: LeaseGrant | null,
  { sentAtMs, nowMs }: { sentAtMs: number; nowMs: number },
): HeldLease[] {
  const lease = leases.find((held) => dayText(held.dayNumber) === request.day)
  if (lease === undefined) return leases
  lease.toldAtMs = sentAtMs
  if (request.isFinal) return leases.filter((held) => held !== lease)
  const isAnother = grant?.leaseId !== lease.leaseId
  if (grant === null || (!isAnother && grant.grantedMicros < lease.spentMicros)) {
    // Nothing could be set aside, or the lease was closed behind our back, or the database has lost
    // grants of it. Its id and spending stay known: were it to come back, what was spent of it must
    // not be spent again.
    lease.grantedMicros = lease.spentMicros
    lease.fairMicros = 0
    lease.refillableMicros = 0
    lease.usableUntilMs = 0
    lease.retryAtMs = nowMs + RETRY_DRY_MS
    return leases
  }
  // Another lease than the one asked about is a new one: nothing of it is spent yet.
  if (isAnother) lease.spentMicros = 0
  const spentBefore = grant.leaseId === request.leaseId ? request.spentMicros : 0
  lease.leaseId = grant.leaseId
  lease.grantedMicros = grant.grantedMicros
  lease.bookedMicros = grant.grantedMicros
  lease.fairMicros = Math.max(0, grant.fairMicros - (lease.spentMicros - spentBefore))
  if (request.urgentMicros > 0) {
    lease.lateMicros = request.urgentMicros
    lease.lateUntilMs = nowMs + LATE_MS
  }
  // Less what clicks have asked for since.
  lease.refillableMicros = Math.max(0, grant.refillableMicros - lease.urgentMicros)
  lease.inFlightElsewhereMicros = grant.inFlightElsewhereMicros
  if (grant.grantedMicros < spentBefore + request.urgentMicros) {
    lease.urgentFromMs = nowMs + RETRY_URGENT_MS
    lease.refillableMicros = 0
  }
  lease.usableUntilMs = sentAtMs + LEASE_TTL_MS - LEASE_SKEW_MS
  lease.retryAtMs = grant.grantedMicros < request.wantMicros ? nowMs + RETRY_DRY_MS : 0
  return leases
}

/** Renews the leases that rest: an answer says that their node stands, and they stand with it. */
export function renewResting(leases: readonly HeldLease[], sentAtMs: number): void {
  for (const lease of leases) {
    if (lease.isResting) lease.usableUntilMs = sentAtMs + LEASE_TTL_MS - LEASE_SKEW_MS
  }
}

/** The record of a day's lease, made if need be. */
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
    toldAtMs: 0,
    usableUntilMs: 0,
    isResting: false,
    retryAtMs: 0,
    urgentMicros: 0,
    urgentFromMs: 0,
    lateMicros: 0,
    lateUntilMs: 0,
    isRecalled: false,
  }
  leases.push(opened)
  return opened
}

type Terms = { holdMicros: number; wantMicros: number } | null

/**
 * A lease whose day or campaign is over goes back, but for what was spent. So does a day's that
 * this node never heard of: an answer may have been lost, and nobody else could give back what it
 * granted, which would be missing from the campaign's total budget for as long as the node runs.
 */
function handIn(lease: HeldLease, isFinal: boolean, nowMs: number): Terms {
  // A campaign just paused still pays the clicks of its last results until the lease runs out.
  const isRunning = nowMs < lease.usableUntilMs
  if (!isFinal && (isRunning || lease.bookedMicros === lease.spentMicros)) return null
  return { holdMicros: lease.spentMicros, wantMicros: lease.spentMicros }
}

/** A live lease is renewed, refilled or trimmed when it is due; null when it is not. */
function wish(lease: HeldLease, needs: LeaseNeeds): Terms {
  const { campaignId, priceMaxMicros, reserveMicros, microsPerMs, nowMs } = needs
  const unspent = lease.grantedMicros - lease.spentMicros
  const need = needs.isWanted
    ? Math.max(
        Math.ceil(SIZE_FACTOR * microsPerMs * LEASE_TTL_MS),
        BURST_CLICKS * priceMaxMicros,
        reserveMicros + priceMaxMicros,
      )
    : 0
  // Beyond its fair part a node keeps nothing: a click that then finds too little asks for itself.
  // But where answers take longer than clicks wait, what one asked for pays the next one.
  const late = nowMs < lease.lateUntilMs ? Math.min(unspent, lease.lateMicros) : 0
  const keep = Math.max(Math.min(need, lease.fairMicros), late)
  const renewBelowMs = RENEW_BELOW_MS + (campaignId % RENEW_SPREAD_SECONDS) * 1000
  const isSurplus = lease.leaseId !== 0 && unspent > SURPLUS_FACTOR * keep
  const isDry = unspent < reserveMicros + priceMaxMicros
  const isLow = unspent < need / 2 && (isDry || lease.fairMicros > unspent)
  const isOld = lease.usableUntilMs - nowMs < renewBelowMs
  const isIdle = isAtRest(lease, needs, need)
  // One that wakes is asked about at once: what it was told is old, and may be of a lost database.
  const isStale = !isIdle && nowMs - lease.toldAtMs > LEASE_TTL_MS
  const isUrgent = lease.urgentMicros > 0
  const isRecalled = lease.isRecalled && (late === 0 || unspent > late)
  const isDue = (isLow || isStale || (isOld && !isIdle)) && nowMs >= lease.retryAtMs
  if (!isUrgent && !isSurplus && !isRecalled && !isDue) {
    lease.isResting = isOld && isIdle
    return null
  }
  // A lowered budget binds at once: held on to, a lease would spend the old one to its end.
  const hold = lease.spentMicros + (lease.isRecalled ? late : Math.min(unspent, keep))
  const want = lease.spentMicros + Math.max(need, lease.urgentMicros)
  return { holdMicros: hold, wantMicros: Math.max(hold, want) }
}

/** Whether a live lease may wait: it is hardly used, and the budget has more for others. */
function isAtRest(lease: HeldLease, needs: LeaseNeeds, needMicros: number): boolean {
  const { campaignId, priceMaxMicros, microsPerMs, inFlightMicros, nowMs } = needs
  const restMs = REST_MS + (campaignId % REST_SPREAD_SECONDS) * 1000
  return (
    nowMs < lease.usableUntilMs &&
    nowMs - lease.toldAtMs < restMs &&
    inFlightMicros < IDLE_CLICKS * priceMaxMicros &&
    microsPerMs * LEASE_TTL_MS < IDLE_CLICKS * priceMaxMicros &&
    lease.refillableMicros >= needMicros
  )
}
