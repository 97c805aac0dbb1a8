/**
 * An auction packed into one row that explains itself: every number of the decision.
 *
 * `replay` needs nothing else, neither a snapshot of that day nor another table: lists and masks
 * are stored as their result for this request, one bit each. Little endian, fixed positions, 84
 * bytes per candidate. Packing is part of each auction, so it is plain stores into one reused
 * buffer.
 */
import { MODEL } from '../events/event.ts'
import type { CampaignState } from './campaign-state.ts'
import { CANDIDATES_MAX, type CandidateSet, expectedValue, fitOf } from './candidate-set.ts'
import { createOutcome, type Outcome } from './outcome.ts'
import { type AuctionRequest, RULE_VERSION } from './run-auction.ts'
import {
  ANY_DEVICE,
  COUNTRY_SLOTS,
  countryCode,
  countryIndex,
  deviceBit,
  type IdList,
  idList,
  isAmong,
  lets,
} from './targeting.ts'

/** The layout below; never reused. */
const FORMAT = 2
const HEAD_BYTES = 144
const CANDIDATE_BYTES = 84
/** By format. Receipts of clicks stay forever; the first format ended before the category. */
const CANDIDATE_BYTES_OF: Readonly<Record<number, number>> = { 1: 80, [FORMAT]: CANDIDATE_BYTES }
/** Stands for the categories of a receipt that has none. */
export const CATEGORY_UNKNOWN = -1
/** The engine that computed the outcome, `14.6.202.33-node.20`. */
const ENGINE = Buffer.from(process.versions.v8.slice(0, 255), 'latin1')
export const RESULT_NUMBER_BYTES = 16

/** An auction with its inputs and outcome. */
export interface StoredAuction {
  readonly ruleVersion: number
  readonly engine: string
  readonly resultNumber: Buffer
  readonly set: CandidateSet
  readonly request: AuctionRequest
  readonly outcome: Outcome
}

const FLAG = {
  exclusive: 1,
  originalInStock: 2,
  priceRequired: 4,
  firstPrice: 8,
  secondRate: 16, // Of all candidates; since rule version 2 each has its own bit.
  explored: 32,
} as const
const BIT = {
  inStock: 1,
  funded: 2,
  device: 4,
  country: 8,
  publisher: 16,
  merchant: 32,
  secondRate: 64,
} as const
const LIVE_SHIFT = 4
const MODEL_MASK = 0b1111

const scratch = Buffer.alloc(HEAD_BYTES + ENGINE.length + CANDIDATES_MAX * CANDIDATE_BYTES)
const view = new DataView(scratch.buffer, scratch.byteOffset, scratch.byteLength)

/** Packs an auction right after it ran, while `outcome` and the campaigns' state are unchanged. */
export function packReceipt(auction: {
  readonly set: CandidateSet
  readonly request: AuctionRequest
  readonly resultNumber: Uint8Array
  readonly outcome: Outcome
}): Buffer {
  const { set, request, resultNumber, outcome } = auction
  writeHead(set, request)
  writeOutcome(outcome)
  scratch.set(resultNumber, 8)
  scratch.set(ENGINE, HEAD_BYTES)
  const start = HEAD_BYTES + ENGINE.length
  writeCandidates(set, start)
  writeVerdicts(set, { request, losses: outcome.losses, start })
  return Buffer.from(scratch.subarray(0, start + set.n * CANDIDATE_BYTES))
}

function writeHead(set: CandidateSet, request: AuctionRequest): void {
  const { publisher } = request
  view.setUint8(0, FORMAT)
  view.setUint8(1, set.n)
  view.setUint16(2, RULE_VERSION, true)
  view.setUint8(4, ENGINE.length)
  view.setUint8(
    5,
    (request.isExclusive ? FLAG.exclusive : 0) |
      (request.isOriginalInStock ? FLAG.originalInStock : 0) |
      (publisher.isPriceRequired ? FLAG.priceRequired : 0) |
      (request.isFirstPrice ? FLAG.firstPrice : 0),
  )
  view.setUint8(6, request.device)
  view.setUint32(24, set.version, true)
  view.setUint32(28, publisher.pubId, true)
  view.setUint32(32, request.originalMerchId, true)
  view.setUint32(36, publisher.tolerancePpm, true)
  view.setUint32(40, publisher.epsilonPpm, true)
  view.setUint32(44, publisher.sharePpm, true)
  view.setFloat64(48, request.nowMs, true)
  view.setFloat64(56, request.originalPriceMicros, true)
  view.setFloat64(64, set.medianPriceMicros, true)
  view.setFloat64(72, publisher.floorMicros, true)
  view.setFloat64(80, publisher.beta, true)
  // As letters, because a country's index may change with the list of countries.
  const country = countryCode(request.country) ?? '\0\0'
  view.setUint8(88, country.charCodeAt(0))
  view.setUint8(89, country.charCodeAt(1))
}

function writeOutcome(outcome: Outcome): void {
  view.setUint8(7, outcome.explored ? FLAG.explored : 0)
  view.setInt16(90, outcome.winner, true)
  view.setInt16(92, outcome.runnerUp, true)
  view.setUint16(94, outcome.reason, true)
  view.setUint32(96, outcome.eligible, true)
  view.setUint32(100, outcome.ratePpm, true)
  view.setFloat64(104, outcome.priceMicros, true)
  view.setFloat64(112, outcome.score, true)
  view.setFloat64(120, outcome.runnerUpScore, true)
  view.setFloat64(128, outcome.reserveMicros, true)
  view.setFloat64(136, outcome.regretMicros, true)
}

/** The candidates' own fields. The three amounts belong to their payment models. */
function writeCandidates(set: CandidateSet, start: number): void {
  const { n, campaignId, merchId, offerId, model, value, posted, ceiling } = set
  const { alpha, nEff, valuePerOrder, quality, price, confidencePpm, category } = set
  for (let i = 0, at = start; i < n; i++, at += CANDIDATE_BYTES) {
    const isCpc = model[i] === MODEL.cpc
    view.setUint32(at, campaignId[i] as number, true)
    view.setUint32(at + 4, merchId[i] as number, true)
    view.setUint32(at + 8, offerId[2 * i] as number, true)
    view.setUint32(at + 12, offerId[2 * i + 1] as number, true)
    view.setFloat64(at + 16, (isCpc ? value[i] : alpha[i]) as number, true)
    view.setFloat64(at + 24, (isCpc ? posted[i] : nEff[i]) as number, true)
    view.setFloat64(at + 32, (isCpc ? ceiling[i] : valuePerOrder[i]) as number, true)
    view.setFloat64(at + 40, quality[i] as number, true)
    view.setFloat64(at + 48, price[i] as number, true)
    view.setUint32(at + 64, confidencePpm[i] as number, true)
    view.setInt32(at + 80, category[i] as number, true)
  }
}

/** The state's and the request's effect on them, and their results. */
function writeVerdicts(
  set: CandidateSet,
  { request, losses, start }: { request: AuctionRequest; losses: Uint16Array; start: number },
): void {
  const { n, campaign, model, floors } = set
  const { live, paceFactor, roasFactor } = set.state
  for (let i = 0, at = start; i < n; i++, at += CANDIDATE_BYTES) {
    const index = campaign[i] as number
    const floor = floors[i] as Float64Array | null
    view.setFloat64(at + 56, floor === null ? 0 : (floor[request.country] as number), true)
    view.setFloat32(at + 68, paceFactor[index] as number, true)
    view.setFloat32(at + 72, roasFactor[index] as number, true)
    view.setUint8(at + 76, (model[i] as number) | ((live[index] as number) << LIVE_SHIFT))
    view.setUint16(at + 78, losses[i] as number, true)
  }
  writeBits(set, request, start)
}

function writeBits(set: CandidateSet, request: AuctionRequest, start: number): void {
  const { n, campaign, merchId, isInStock, deviceMask, countries, publishers, hasSecondRate } = set
  const { budgetOk } = set.state
  const { country } = request
  const { pubId, merchants } = request.publisher
  const device = deviceBit(request.device)
  for (let i = 0, at = start + 77; i < n; i++, at += CANDIDATE_BYTES) {
    const inCountries = countries[i] as Uint32Array | null
    const atPublishers = publishers[i] as IdList | null
    let bits = 0
    if (isInStock[i] === 1) bits |= BIT.inStock
    if (budgetOk[campaign[i] as number] !== 0) bits |= BIT.funded
    if (((deviceMask[i] as number) & device) !== 0) bits |= BIT.device
    if (isAmong(inCountries, country)) bits |= BIT.country
    if (lets(atPublishers, pubId)) bits |= BIT.publisher
    if (lets(merchants, merchId[i] as number)) bits |= BIT.merchant
    if (hasSecondRate[i] === 1) bits |= BIT.secondRate
    view.setUint8(at, bits)
  }
}

/** Reads a receipt; throws for other data, or for a layout that this version does not know. */
export function unpackReceipt(packed: Buffer): StoredAuction {
  const candidateBytes = CANDIDATE_BYTES_OF[packed[0] ?? 0]
  if (packed.length < HEAD_BYTES || candidateBytes === undefined) {
    const upTo = `up to ${FORMAT}`
    throw new Error(`not a receipt of format ${upTo}: ${packed.length} bytes, first ${packed[0]}`)
  }
  const n = packed.readUInt8(1)
  const engineEnd = HEAD_BYTES + packed.readUInt8(4)
  if (packed.length !== engineEnd + n * candidateBytes) {
    throw new Error(`a receipt of ${n} candidates has another length than ${packed.length} bytes`)
  }
  const rows = Array.from({ length: n }, (_, i) =>
    packed.subarray(engineEnd + i * candidateBytes, engineEnd + (i + 1) * candidateBytes),
  )
  return {
    ruleVersion: packed.readUInt16LE(2),
    engine: packed.toString('latin1', HEAD_BYTES, engineEnd),
    resultNumber: packed.subarray(8, 8 + RESULT_NUMBER_BYTES),
    set: readSet(packed, rows),
    request: readRequest(packed, rows),
    outcome: readOutcome(packed, rows),
  }
}

function readRequest(packed: Buffer, rows: readonly Buffer[]): AuctionRequest {
  const has = (flag: number) => (packed.readUInt8(5) & flag) !== 0
  const refused = rows.filter((row) => (row.readUInt8(77) & BIT.merchant) === 0)
  return {
    publisher: {
      pubId: packed.readUInt32LE(28),
      floorMicros: packed.readDoubleLE(72),
      tolerancePpm: packed.readUInt32LE(36),
      beta: packed.readDoubleLE(80),
      epsilonPpm: packed.readUInt32LE(40),
      sharePpm: packed.readUInt32LE(44),
      isPriceRequired: has(FLAG.priceRequired),
      merchants: idList(
        [],
        refused.map((row) => row.readUInt32LE(4)),
      ),
    },
    country: countryIndex(packed.toString('latin1', 88, 90)),
    device: packed.readUInt8(6),
    originalMerchId: packed.readUInt32LE(32),
    originalPriceMicros: packed.readDoubleLE(56),
    isOriginalInStock: has(FLAG.originalInStock),
    isExclusive: has(FLAG.exclusive),
    isFirstPrice: has(FLAG.firstPrice),
    nowMs: packed.readDoubleLE(48),
  }
}

function readOutcome(packed: Buffer, rows: readonly Buffer[]): Outcome {
  const outcome = createOutcome()
  rows.forEach((row, i) => {
    outcome.losses[i] = row.readUInt16LE(78)
  })
  outcome.explored = (packed.readUInt8(7) & FLAG.explored) !== 0
  outcome.winner = packed.readInt16LE(90)
  outcome.runnerUp = packed.readInt16LE(92)
  outcome.reason = packed.readUInt16LE(94)
  outcome.eligible = packed.readUInt32LE(96)
  outcome.ratePpm = packed.readUInt32LE(100)
  outcome.priceMicros = packed.readDoubleLE(104)
  outcome.score = packed.readDoubleLE(112)
  outcome.runnerUpScore = packed.readDoubleLE(120)
  outcome.reserveMicros = packed.readDoubleLE(128)
  outcome.regretMicros = packed.readDoubleLE(136)
  return outcome
}

const NOWHERE = new Uint32Array(COUNTRY_SLOTS / 32)
const NO_PUBLISHER: IdList = { inside: 1, bits: new Uint32Array(1) }

function readSet(packed: Buffer, rows: readonly Buffer[]): CandidateSet {
  const doubles = (at: number) => Float64Array.from(rows, (row) => row.readDoubleLE(at))
  const words = (at: number) => Int32Array.from(rows, (row) => row.readUInt32LE(at))
  const has = (row: Buffer, bit: number) => (row.readUInt8(77) & bit) !== 0
  const hasAll = (packed.readUInt8(5) & FLAG.secondRate) !== 0
  const isCpc = (row: Buffer) => (row.readUInt8(76) & MODEL_MASK) === MODEL.cpc
  const ofOrders = (at: number) =>
    Float64Array.from(rows, (row) => (isCpc(row) ? 0 : row.readDoubleLE(at)))
  const [alpha, nEff, valuePerOrder] = [ofOrders(16), ofOrders(24), ofOrders(32)]
  const quality = doubles(40)
  const confidencePpm = words(64)
  const meanOr = (at: number) =>
    Float64Array.from(rows, (row, i) =>
      isCpc(row)
        ? row.readDoubleLE(at)
        : expectedValue({
            alpha: alpha[i] ?? 0,
            nEff: nEff[i] ?? 1,
            valuePerOrder: valuePerOrder[i] ?? 0,
          }),
    )
  return {
    version: packed.readUInt32LE(24),
    n: rows.length,
    state: readState(packed, rows),
    campaign: Int32Array.from(rows, (_, i) => i),
    campaignId: words(0),
    merchId: words(4),
    offer: Int32Array.from(rows, (_, i) => i),
    offerId: Uint32Array.from(rows.flatMap((row) => [row.readUInt32LE(8), row.readUInt32LE(12)])),
    model: Uint8Array.from(rows, (row) => row.readUInt8(76) & MODEL_MASK),
    hasSecondRate: Uint8Array.from(rows, (row) => Number(hasAll || has(row, BIT.secondRate))),
    isInStock: Uint8Array.from(rows, (row) => Number(has(row, BIT.inStock))),
    deviceMask: Uint8Array.from(rows, (row) => (has(row, BIT.device) ? ANY_DEVICE : 0)),
    countries: rows.map((row) => (has(row, BIT.country) ? null : NOWHERE)),
    publishers: rows.map((row) => (has(row, BIT.publisher) ? null : NO_PUBLISHER)),
    value: meanOr(16),
    posted: meanOr(24),
    ceiling: Float64Array.from(rows, (row) =>
      isCpc(row) ? row.readDoubleLE(32) : Number.POSITIVE_INFINITY,
    ),
    alpha,
    nEff,
    valuePerOrder,
    price: doubles(48),
    quality,
    confidencePpm,
    fit: quality.map((q, i) => fitOf({ quality: q, confidencePpm: confidencePpm[i] ?? 0 })),
    floors: rows.map((row) => floorEverywhere(row.readDoubleLE(56))),
    category: Int32Array.from(rows, readCategory),
    medianPriceMicros: packed.readDoubleLE(64),
  }
}

function readCategory(row: Buffer): number {
  return row.length < CANDIDATE_BYTES ? CATEGORY_UNKNOWN : row.readInt32LE(80)
}

/** The floor in the request's country, the only one that the receipt has. */
function floorEverywhere(floorMicros: number): Float64Array | null {
  return floorMicros === 0 ? null : new Float64Array(COUNTRY_SLOTS).fill(floorMicros)
}

/** Rule version 1 paced by a coin: docs/spec/budgets.md#pacing. */
function readState(packed: Buffer, rows: readonly Buffer[]): CampaignState {
  const pacing = Float32Array.from(rows, (row) => row.readFloatLE(68))
  const none = new Float32Array(rows.length).fill(1)
  const isCoin = packed.readUInt16LE(2) === 1
  return {
    live: Uint8Array.from(rows, (row) => row.readUInt8(76) >> LIVE_SHIFT),
    budgetOk: Uint8Array.from(rows, (row) => Number((row.readUInt8(77) & BIT.funded) !== 0)),
    paceFactor: isCoin ? none : pacing,
    ptr: isCoin ? pacing : none,
    roasFactor: Float32Array.from(rows, (row) => row.readFloatLE(72)),
  }
}
