/**
 * What the nightly fit knows about the network as a whole: how much pairs differ, what an order is
 * worth, how long it takes. Everything that a prediction needs besides a pair's own counts.
 */
import { HOUR_MS } from '../platform/timestamp.ts'
import { type RateModel, UNFITTED, UNFITTED_VALUE, type ValueModel } from './predict.ts'

export interface Delays {
  /** τ of the network: the mean wait of an order for its click, in milliseconds. */
  readonly delayMs: number
  /** τ of the merchants that have shown their own, by id. */
  readonly delayMsByMerchant: Readonly<Record<string, number>>
  /** Orders whose waits were seen. */
  readonly delayOrders: number
}

export interface PredictionModel extends Delays {
  readonly rates: RateModel
  readonly values: ValueModel
  /** Part of the order value that comes back, of the network and of merchants, by id. */
  readonly returnShare: number
  readonly returnShareByMerchant: Readonly<Record<string, number>>
}

/** Before anything was fitted: most orders come within the day (usual in commerce). */
export const UNFITTED_MODEL: PredictionModel = {
  rates: UNFITTED,
  values: UNFITTED_VALUE,
  delayMs: 12 * HOUR_MS,
  delayMsByMerchant: {},
  delayOrders: 0,
  returnShare: 0.1,
  returnShareByMerchant: {},
}

export function delayOf(model: PredictionModel, merchId: number): number {
  return model.delayMsByMerchant[merchId] ?? model.delayMs
}

export function returnShareOf(model: PredictionModel, merchId: number): number {
  return model.returnShareByMerchant[merchId] ?? model.returnShare
}
