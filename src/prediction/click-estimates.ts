/**
 * The expected value of a click, for every pair of publisher and merchant.
 *
 * Refreshed every minute, outside requests. The auction and `best_effort_cpc` read the same values,
 * so they cannot disagree.
 */
import type { Db } from '../platform/postgres/postgres.ts'
import {
  addEvidence,
  countsOf,
  type DelayCurve,
  type Evidence,
  noEvidence,
  pairAt,
  pairKey,
} from './evidence.ts'
import { loadEvidence, type PairEvidence } from './evidence-store.ts'
import { loadModel } from './model-store.ts'
import { networkRate } from './network-prior.ts'
import {
  atRate,
  type ClickEstimate,
  type Counts,
  drawable,
  estimateRate,
  estimateValue,
} from './predict.ts'
import {
  approvedShareOf,
  delayOf,
  type PredictionModel,
  returnShareOf,
  UNFITTED_MODEL,
} from './prediction-model.ts'

/** Before a pair has its own counts: 97 of 100 clicks load and are valid. */
const VALID_PRIOR = { valid: 97, all: 100 }

export type PairEstimate = Omit<ClickEstimate, 'share' | 'fundedShare'>

export class ClickEstimates {
  #model: PredictionModel = UNFITTED_MODEL
  #pairs = new Map<string, Evidence>()
  #merchants = new Map<number, Evidence>()
  #none: Evidence = noEvidence(0)
  #rates = UNFITTED_MODEL.rates

  async refresh(db: Db, nowMs: number): Promise<void> {
    const model = await loadModel(db)
    this.take(model, await loadEvidence(db, model.halfLife), nowMs)
  }

  /** Replaces the model and the evidence of all pairs at its half-life, as of `nowMs`. */
  take(model: PredictionModel, evidence: readonly PairEvidence[], nowMs: number): void {
    const none = noEvidence(nowMs)
    const pairs = new Map<string, Evidence>()
    const merchants = new Map<number, Evidence>()
    for (const { pubId, merchId, evidence: held } of evidence) {
      const pair = pairAt(held, nowMs, model.halfLife)
      pairs.set(pairKey({ pubId, merchId }), pair)
      merchants.set(merchId, addEvidence(merchants.get(merchId) ?? none, pair, model.halfLife))
    }
    const counts = [...merchants].map(([merchId, of]) => countsOf(of, delayOf(model, merchId)))
    this.#model = model
    this.#pairs = pairs
    this.#merchants = merchants
    this.#none = none
    this.#rates = atRate(model.rates, networkRate(counts))
  }

  /** The delay curve of a merchant's orders. */
  delayOf(merchId: number): DelayCurve {
    return delayOf(this.#model, merchId)
  }

  /** Ripe clicks of a merchant at all publishers, and their orders. */
  countsOf(merchId: number): Counts {
    return countsOf(this.#merchants.get(merchId) ?? this.#none, this.delayOf(merchId))
  }

  of(pubId: number, merchId: number): PairEstimate {
    const pair = this.#pairs.get(pairKey({ pubId, merchId })) ?? this.#none
    const merchant = this.#merchants.get(merchId) ?? this.#none
    const valid = pair.clicks + VALID_PRIOR.valid
    return {
      rate: drawable(
        estimateRate(this.#rates, this.countsOf(merchId), countsOf(pair, this.delayOf(merchId))),
      ),
      value: estimateValue(this.#model.values, merchant, pair),
      returnShare: returnShareOf(this.#model, merchId),
      approvedShare: approvedShareOf(this.#model, merchId),
      validShare: valid / (pair.clicks + pair.invalid + VALID_PRIOR.all),
    }
  }
}
