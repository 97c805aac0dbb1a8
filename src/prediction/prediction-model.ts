/**
 * The nightly fit's model of the network: how much pairs differ, order values, delays, the
 * half-life and the lasting share of commission. A prediction needs only this and a pair's counts.
 */
import type { DelayCurve, HalfLife } from './evidence.ts'
import { type RateModel, UNFITTED, UNFITTED_VALUE, type ValueModel } from './predict.ts'

export interface Delays {
  /** The network's delay curve: weights of WAITS_MS (evidence.ts). */
  readonly delayCurve: DelayCurve
  /** Curves of the merchants with enough orders, by id. */
  readonly delayCurveByMerchant: Readonly<Record<string, DelayCurve>>
  /** Orders with a known delay. */
  readonly delayOrders: number
}

export interface PredictionModel extends Delays {
  readonly rates: RateModel
  readonly values: ValueModel
  readonly halfLife: HalfLife
  /** Returned share of the order value, of the network and of merchants, by id. */
  readonly returnShare: number
  readonly returnShareByMerchant: Readonly<Record<string, number>>
  /** Share of commission on current orders that is not rejected later (approval.ts). */
  readonly approvedShare: number
  readonly approvedShareByMerchant: Readonly<Record<string, number>>
}

/** Before the first fit: most orders come within the day (usual in commerce). */
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
