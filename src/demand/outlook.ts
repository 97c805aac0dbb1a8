/**
 * What is expected of a click, for every pair of publisher and merchant.
 *
 * Read off the request path every minute; the auction and `best_effort_cpc` ask this one book, so
 * that they can never disagree (economics 3).
 */
import type { Db } from '../platform/postgres.ts'
import { addEvidence, countsOf, type Evidence, noEvidence, pairAt, pairKey } from './evidence.ts'
import { loadEvidence, type PairEvidence } from './evidence-store.ts'
import { loadModel } from './model-store.ts'
import { networkRate } from './network-rate.ts'
import {
  atRate,
  type ClickOutlook,
  type Counts,
  drawable,
  estimateRate,
  estimateValue,
} from './predict.ts'
import { delayOf, type PredictionModel, returnShareOf, UNFITTED_MODEL } from './prediction-model.ts'

/** Before a pair has shown its own: 97 of 100 clicks land and are valid. */
const VALID_PRIOR = { valid: 97, all: 100 }

export type PairOutlook = Omit<ClickOutlook, 'share' | 'fundedShare'>

export class OutlookBook {
  #model: PredictionModel = UNFITTED_MODEL
  #pairs = new Map<string, Evidence>()
  #merchants = new Map<number, Evidence>()
  #none: Evidence = noEvidence(0)
  #rates = UNFITTED_MODEL.rates

  async refresh(db: Db, nowMs: number): Promise<void> {
    this.take(await loadModel(db), await loadEvidence(db), nowMs)
  }

  /** Takes a model and the evidence of all pairs, to be seen as of `nowMs`. */
  take(model: PredictionModel, evidence: readonly PairEvidence[], nowMs: number): void {
    const none = noEvidence(nowMs)
    const pairs = new Map<string, Evidence>()
    const merchants = new Map<number, Evidence>()
    for (const { pubId, merchId, evidence: held } of evidence) {
      const delayMs = delayOf(model, merchId)
      const pair = pairAt(held, nowMs, delayMs)
      pairs.set(pairKey({ pubId, merchId }), pair)
      merchants.set(merchId, addEvidence(merchants.get(merchId) ?? none, pair, delayMs))
    }
    this.#model = model
    this.#pairs = pairs
    this.#merchants = merchants
    this.#none = none
    this.#rates = atRate(model.rates, networkRate([...merchants.values()].map(countsOf)))
  }

  /** τ of a merchant: how long its orders come after their clicks, on average. */
  delayMsOf(merchId: number): number {
    return delayOf(this.#model, merchId)
  }

  /** Ripe clicks of a merchant at all publishers, and their orders. */
  countsOf(merchId: number): Counts {
    return countsOf(this.#merchants.get(merchId) ?? this.#none)
  }

  of(pubId: number, merchId: number): PairOutlook {
    const pair = this.#pairs.get(pairKey({ pubId, merchId })) ?? this.#none
    const merchant = this.#merchants.get(merchId) ?? this.#none
    const valid = pair.clicks + VALID_PRIOR.valid
    return {
      rate: drawable(estimateRate(this.#rates, this.countsOf(merchId), countsOf(pair))),
      value: estimateValue(this.#model.values, merchant, pair),
      returnShare: returnShareOf(this.#model, merchId),
      validShare: valid / (pair.clicks + pair.invalid + VALID_PRIOR.all),
    }
  }
}
