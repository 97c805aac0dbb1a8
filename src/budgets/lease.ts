/**
 * The money that this node may spend for each campaign now, without asking the database.
 *
 * A lease is a part of a budget that PostgreSQL has reserved for one node and one UTC day
 * (docs/spec/budgets.md#leases). The book spends it by integer arithmetic in one thread, so
 * `reserve` is safe in the path of a reader's click: no promise, no allocation, no clock.
 *
 * Three rules protect a cap when messages are lost, repeated or late (docs/spec/budgets.md#leases):
 * - never more than granted (B2): `spent <= granted` at every instant;
 * - never after the granted time (B3), counted from *before* the request was sent, so that a lease
 *   ends here before it ends in the database and clocks are never compared;
 * - returned money is first taken off the local grant, then reported: `LeaseRequest.holdMicros`.
 */
import assert from 'node:assert/strict'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { OpenResults, Readers, reserveMicros } from './in-flight-reserve.ts'
import type { HeldLease, LeaseGrant, LeaseRequest } from './lease-terms.ts'
import {
  applyGrant,
  dayNumberOf,
  LEASE_SKEW_MS,
  LEASE_TTL_MS,
  openDay,
  renewIdle,
  requestsOf,
} from './lease-terms.ts'

/** The lease of a campaign without a cap: never exhausted, never expired. */
export const UNCAPPED_LEASE = 0
/** A lease with less than this many clicks left is refilled early, if possible. */
const LOW_CLICKS = 20
/** Leases are requested this long before a flight starts. */
const AHEAD_OF_FLIGHT_MS = 30_000
/** P(funded) is measured over the last day. */
const FUNDED_TIME_MS = DAY_MS
/**
 * Time constant of the spending rate: the last seconds count most, so that a burst shows at once.
 */
const RATE_TIME_MS = 20_000

/** What the book needs to know about a campaign. */
export interface BudgetedCampaign {
  readonly campaignId: number
  /** Its index in the shared outputs. */
  readonly index: number
  /**
   * `leased`: has a cap and pays per click. `ofOrders`: has a cap and pays per order; a click whose
   * result was sealed while the campaign still paid per click finds no money.
   */
  readonly budget: 'none' | 'leased' | 'ofOrders'
  /** The highest price of one click, in micros: the higher of bid and exclusive bid. */
  readonly priceMaxMicros: number
  /** Changes with the budgets, so that a raised cap is requested at once. */
  readonly budgetVersion: string
  /**
   * When it can win; outside it holds no lease, and a click on an old result requests its own
   * price.
   */
  readonly servesFromMs: number
  readonly servesUntilMs: number
}

/** Of a campaign without a flight. */
export const ALWAYS = {
  servesFromMs: Number.NEGATIVE_INFINITY,
  servesUntilMs: Number.POSITIVE_INFINITY,
}

interface Slot {
  campaign: BudgetedCampaign
  isWanted: boolean // false once the campaign left the snapshot
  isOverCap: boolean // CPA and EPP: expected orders use up the budget
  readonly openResults: OpenResults // of this node
  isWinning: boolean // as last published
  reserveMicros: number // for the open results of all nodes
  microsPerMs: number
  spentSinceTick: number
  fundedShare: number | null // null before the first request
  leases: HeldLease[] // of today, and around midnight its neighbour
}

export class LeaseBook {
  readonly #slots = new Map<number, Slot>()
  readonly #readers = new Readers()
  #budgetOk: Uint8Array = new Uint8Array(0)
  #tickedAtMs = 0
  #awaited = 0 // the number of the request whose answer counts
  #sentAtMs = 0
  #answeredAtMs = Number.NEGATIVE_INFINITY // when the last answer was requested
  #isLowReported = false
  #onLow: () => void = () => undefined

  /**
   * Replaces the snapshot: every campaign whose clicks may still be paid. `budgetOk[index]` is 1
   * while this node can fund another win of that campaign; the book updates it from here on.
   */
  setCampaigns(
    campaigns: readonly BudgetedCampaign[],
    { budgetOk, nowMs }: { readonly budgetOk: Uint8Array; readonly nowMs: number },
  ): void {
    for (const slot of this.#slots.values()) slot.isWanted = false
    let hasChanged = false
    for (const campaign of campaigns) {
      const slot = this.#slots.get(campaign.campaignId)
      if (slot === undefined) {
        this.#slots.set(campaign.campaignId, newSlot(campaign, this.#readers))
        hasChanged ||= campaign.budget === 'leased'
        continue
      }
      const isChanged = slot.campaign.budgetVersion !== campaign.budgetVersion
      slot.campaign = campaign
      slot.isWanted = true
      hasChanged ||= isChanged
      for (const lease of isChanged ? slot.leases : []) {
        lease.isRecalled = true
        lease.lateUntilMs = 0
      }
    }
    this.#budgetOk = budgetOk
    for (const slot of this.#slots.values()) this.#publish(slot, nowMs)
    if (hasChanged) this.#reportLowOnce()
  }

  /** Names the CPA and EPP campaigns whose expected orders use up their budgets. */
  setOverCap(campaignIds: ReadonlySet<number>, nowMs: number): void {
    for (const [campaignId, slot] of this.#slots) {
      slot.isOverCap = campaignIds.has(campaignId)
      this.#publish(slot, nowMs)
    }
  }

  /**
   * Reserves `amountMicros` of a campaign's budget for a click, all of it or nothing.
   *
   * Returns the lease to name in the click event (`UNCAPPED_LEASE` when the campaign has no cap),
   * or null when it cannot be funded. The caller appends the event at once, accepted at `nowMs`, or
   * releases the reservation with `release`.
   */
  reserve(campaignId: number, amountMicros: number, nowMs: number): number | null {
    const slot = this.#slots.get(campaignId)
    if (slot === undefined) return null
    const { budget } = slot.campaign
    if (budget !== 'leased') return budget === 'none' ? UNCAPPED_LEASE : null
    const lease = leaseOfDay(slot, nowMs)
    if (lease === null || nowMs >= lease.usableUntilMs) return null
    const leftMicros = lease.grantedMicros - lease.spentMicros - amountMicros
    if (leftMicros < LOW_CLICKS * slot.campaign.priceMaxMicros) {
      this.#noteLow(lease, leftMicros + amountMicros)
    }
    if (leftMicros < 0) return null
    lease.spentMicros += amountMicros
    lease.fairMicros = Math.max(0, lease.fairMicros - amountMicros)
    slot.spentSinceTick += amountMicros
    this.#publish(slot, nowMs)
    return lease.leaseId
  }

  /** Releases a reservation whose click event was never written, neither to log nor spool. */
  release(campaignId: number, leaseId: number, amountMicros: number): void {
    for (const lease of this.#slots.get(campaignId)?.leases ?? []) {
      if (lease.leaseId !== leaseId) continue
      assert(lease.spentMicros >= amountMicros, 'a release exceeds what was reserved')
      lease.spentMicros -= amountMicros
    }
  }

  /**
   * Notes that a click waits for `amountMicros` that this node does not hold. False when a request
   * would have no effect: the database had nothing, or has not answered for some time.
   */
  want(campaignId: number, amountMicros: number, nowMs: number): boolean {
    const slot = this.#slots.get(campaignId)
    if (slot === undefined || !isLeased(slot)) return false
    if (nowMs >= this.#answeredAtMs + LEASE_TTL_MS - LEASE_SKEW_MS) return false
    const lease = openDay(slot.leases, dayNumberOf(nowMs))
    if (nowMs < lease.immediateFromMs) return false
    lease.immediateMicros += amountMicros
    // The rest counts as used: in a burst, no more clicks may win than the rest can pay.
    lease.refillableMicros = Math.max(0, lease.refillableMicros - amountMicros)
    this.#publish(slot, nowMs)
    return true
  }

  /** Counts a click on a page's result, `ageMs` after its auction. */
  recordClick(
    campaignId: number,
    click: {
      readonly nowMs: number
      readonly ageMs: number
      readonly priceMicros: number
      readonly address: string // the unit
    },
  ): void {
    const slot = this.#slots.get(campaignId)
    if (slot === undefined || !isLeased(slot)) return
    slot.openResults.advance(click.nowMs, slot.isWinning)
    const isOfAnother = this.#readers.isAnother(`click ${campaignId}`, click.address, click.nowMs)
    slot.openResults.countClick({ ...click, isOfAnother })
  }

  /** Counts a result handed out to a page, for a reader at `address` (an address unit). */
  recordWin(campaignId: number, address: string, nowMs: number): void {
    const slot = this.#slots.get(campaignId)
    if (slot === undefined || !isLeased(slot)) return
    if (!this.#readers.isAnother(`win ${campaignId}`, address, nowMs)) return
    slot.openResults.advance(nowMs, slot.isWinning)
    slot.openResults.countReader()
    this.#refreshReserve(slot, nowMs)
    this.#publish(slot, nowMs)
  }

  /**
   * Called once between two requests when the database should be asked early: a refillable lease
   * runs low, campaigns are new, budgets have changed.
   */
  onLow(callback: () => void): void {
    this.#onLow = callback
  }

  /** Advances rates, reserves and the day, and lists the requests, numbered `requestNo`. */
  prepare(requestNo: number, nowMs: number): LeaseRequest[] {
    assert(requestNo > this.#awaited, 'lease requests must be numbered upwards')
    this.#awaited = requestNo
    this.#sentAtMs = nowMs
    this.#isLowReported = false
    const elapsedMs = Math.max(0, nowMs - this.#tickedAtMs)
    this.#tickedAtMs = nowMs
    const requests: LeaseRequest[] = []
    for (const slot of this.#slots.values()) {
      const { servesFromMs, servesUntilMs } = slot.campaign
      const isInFlight = nowMs >= servesFromMs - AHEAD_OF_FLIGHT_MS && nowMs < servesUntilMs
      const isServing = slot.isWanted && isLeased(slot) && isInFlight
      updateRate(slot, elapsedMs)
      const inFlightMicros = this.#refreshReserve(slot, nowMs)
      requests.push(
        ...requestsOf(slot.leases, {
          campaignId: slot.campaign.campaignId,
          priceMaxMicros: slot.campaign.priceMaxMicros,
          isWanted: isServing,
          microsPerMs: slot.microsPerMs,
          reserveMicros: slot.reserveMicros,
          inFlightMicros,
          nowMs,
        }),
      )
      const budgetOk = this.#publish(slot, nowMs)
      if (isInFlight) noteFunded(slot, budgetOk, elapsedMs)
      if (!slot.isWanted && slot.leases.length === 0) {
        this.#slots.delete(slot.campaign.campaignId)
      }
    }
    return requests
  }

  /** Repeats refused requests the next time: another node may have returned money. */
  retryEmpty(): void {
    for (const { leases } of this.#slots.values()) for (const lease of leases) lease.retryAtMs = 0
  }

  /**
   * Applies the answer to request `requestNo`. Ignores answers to older requests, which may be
   * superseded, and one that was under way at a stop: with the clock set back an hour, its leases
   * would last an hour longer. A requested lease that is missing is no longer ours.
   */
  apply(
    requestNo: number,
    answer: {
      readonly requests: readonly LeaseRequest[]
      readonly grants: readonly LeaseGrant[]
      readonly recalled: readonly number[]
    },
    nowMs: number,
  ): void {
    if (requestNo !== this.#awaited) return
    this.#answeredAtMs = this.#sentAtMs
    for (const { leases } of this.#slots.values()) renewIdle(leases, this.#sentAtMs)
    const grants = new Map(answer.grants.map((grant) => [leaseKey(grant), grant]))
    for (const request of answer.requests) {
      const slot = this.#slots.get(request.campaignId)
      if (slot === undefined) continue
      const grant = grants.get(leaseKey(request)) ?? null
      slot.leases = applyGrant(slot.leases, request, grant, { sentAtMs: this.#sentAtMs, nowMs })
      this.#refreshReserve(slot, nowMs)
      const isFunded = this.#publish(slot, nowMs)
      slot.fundedShare ??= isFunded
    }
    this.#recall(new Set(answer.recalled))
  }

  /** The next request returns the money that another node needs, except this node's share. */
  #recall(leaseIds: ReadonlySet<number>): void {
    if (leaseIds.size === 0) return
    for (const { leases } of this.#slots.values()) {
      for (const lease of leases) {
        // A known lease stays for a while, as for the last clicks of a stopped campaign.
        if (lease.isRecalled || !leaseIds.has(lease.leaseId)) continue
        lease.isRecalled = true
        this.#reportLowOnce()
      }
    }
  }

  /** Ends every lease at once: this node was declared dead, its clock jumped, or it shuts down. */
  stopSpending(nowMs: number): void {
    this.#awaited = 0
    this.#answeredAtMs = Number.NEGATIVE_INFINITY
    for (const slot of this.#slots.values()) {
      for (const lease of slot.leases) {
        lease.usableUntilMs = 0
        lease.retryAtMs = 0
        lease.immediateFromMs = 0
        lease.lateUntilMs = 0
      }
      this.#publish(slot, nowMs)
    }
  }

  /** Granted and not yet spent of a campaign's budget today, in micros; for tests. */
  unspentMicros(campaignId: number, nowMs: number): number {
    const slot = this.#slots.get(campaignId)
    const lease = slot === undefined ? null : leaseOfDay(slot, nowMs)
    return lease === null ? 0 : lease.grantedMicros - lease.spentMicros
  }

  /**
   * The part of the last day during which this node could fund the campaign; null when it never
   * requested its budget, as on a node that serves no readers.
   */
  fundedShare(campaignId: number): number | null {
    return this.#slots.get(campaignId)?.fundedShare ?? null
  }

  /** Returns the estimated cost of this node's own open results. */
  #refreshReserve(slot: Slot, nowMs: number): number {
    const { openResults } = slot
    openResults.advance(nowMs, slot.isWinning)
    const { expectedMicros, priceMicros } = openResults
    const elsewhere = leaseOfDay(slot, nowMs)?.inFlightElsewhereMicros ?? 0
    slot.reserveMicros = reserveMicros(expectedMicros + elsewhere, priceMicros)
    return expectedMicros
  }

  #noteLow(lease: HeldLease, leftMicros: number): void {
    if (lease.fairMicros <= leftMicros || this.#isLowReported) return
    lease.retryAtMs = 0
    this.#reportLowOnce()
  }

  #reportLowOnce(): void {
    if (this.#isLowReported) return
    this.#isLowReported = true
    this.#onLow()
  }

  /** Publishes whether another win could be paid: `lease rest + refillable >= reserve + price`. */
  #publish(slot: Slot, nowMs: number): 0 | 1 {
    const { index, priceMaxMicros } = slot.campaign
    const neededMicros = slot.reserveMicros + priceMaxMicros
    const isFunded = !isLeased(slot) || fundableMicros(slot, nowMs) >= neededMicros
    const budgetOk = isFunded && !slot.isOverCap ? 1 : 0
    slot.isWinning = budgetOk === 1
    if (slot.isWanted) this.#budgetOk[index] = budgetOk
    return budgetOk
  }
}

function newSlot(campaign: BudgetedCampaign, readers: Readers): Slot {
  return {
    campaign,
    isWanted: true,
    isOverCap: false,
    openResults: new OpenResults(readers, campaign.priceMaxMicros),
    isWinning: true,
    reserveMicros: 0,
    microsPerMs: 0,
    spentSinceTick: 0,
    fundedShare: null,
    leases: [],
  }
}

const isLeased = ({ campaign }: Slot): boolean => campaign.budget === 'leased'
const leaseKey = (of: { campaignId: number; day: string }): string => `${of.campaignId} ${of.day}`

function leaseOfDay(slot: Slot, nowMs: number): HeldLease | null {
  const dayNumber = dayNumberOf(nowMs)
  // By index: an iterator would allocate in the path of a click.
  for (let at = 0; at < slot.leases.length; at++) {
    const lease = slot.leases[at]
    if (lease !== undefined && lease.dayNumber === dayNumber) return lease
  }
  return null
}

/** The money available to this node's clicks: its lease, and the unleased rest. */
function fundableMicros(slot: Slot, nowMs: number): number {
  const lease = leaseOfDay(slot, nowMs)
  if (lease === null || nowMs >= lease.usableUntilMs) return 0
  return lease.grantedMicros - lease.spentMicros + lease.refillableMicros
}

function updateRate(slot: Slot, elapsedMs: number): void {
  if (elapsedMs === 0) return
  const weight = 1 - Math.exp(-elapsedMs / RATE_TIME_MS)
  slot.microsPerMs += weight * (slot.spentSinceTick / elapsedMs - slot.microsPerMs)
  slot.spentSinceTick = 0
}

function noteFunded(slot: Slot, isFunded: 0 | 1, elapsedMs: number): void {
  if (!isLeased(slot)) slot.fundedShare = isFunded
  if (slot.fundedShare === null) return
  const weight = 1 - Math.exp(-elapsedMs / FUNDED_TIME_MS)
  slot.fundedShare += weight * (isFunded - slot.fundedShare)
}
