/**
 * What the nightly fit knows about the network as a whole: how much pairs differ, what an order is
 * worth, how long it takes, how fast the past fades and which part of a commission lasts:
 * everything that a prediction needs besides a pair's counts.
 */
import type { DelayCurve, HalfLife } from './evidence.ts'
import { type RateModel, UNFITTED, UNFITTED_VALUE, type ValueModel } from './predict.ts'

export interface Delays {
  /** The network's delay curve: weights of WAITS_MS (evidence.ts). */
  readonly delayCurve: DelayCurve
  /** Curves of the merchants that have shown their own, by id. */
  readonly delayCurveByMerchant: Readonly<Record<string, DelayCurve>>
  /** Orders whose waits were seen. */
  readonly delayOrders: number
}

export interface PredictionModel extends Delays {
  readonly rates: RateModel
  readonly values: ValueModel
  readonly halfLife: HalfLife
  /** Part of the order value that comes back, of the network and of merchants, by id. */
  readonly returnShare: number
  readonly returnShareByMerchant: Readonly<Record<string, number>>
  /** Part of the commission of standing orders that is not rejected later (approval.ts). */
  readonly approvedShare: number
  readonly approvedShareByMerchant: Readonly<Record<string, number>>
}

/** Before anything was fitted: most orders come within the day (usual in commerce). */
export const UNFITTED_MODEL: PredictionModel = {
  rates: UNFITTED,
  values: UNFITTED_VALUE,
  halfLife: 40,
  delayCurve: [0.15, 0.15, 0.4, 0.15, 0.1, 0.05],
  delayCurveByMerchant: {},
  delayOrders: 0,
  returnShare: 0.1,
  returnShareByMerchant: {},
  approvedShare: 1,
  approvedShareByMerchant: {},
}

export function delayOf(model: PredictionModel, merchId: number): DelayCurve {
  return model.delayCurveByMerchant[merchId] ?? model.delayCurve
}

export function returnShareOf(model: PredictionModel, merchId: number): number {
  return model.returnShareByMerchant[merchId] ?? model.returnShare
}

export function approvedShareOf(model: PredictionModel, merchId: number): number {
  return model.approvedShareByMerchant[merchId] ?? model.approvedShare
}
