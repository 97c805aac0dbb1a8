/** How a day's traffic spreads over its hours, as an operation of the management API. */
import Type from 'typebox'
import { action, type Operation } from '../accounts/operation.ts'
import { campaignShape } from '../budgets/traffic-curve.ts'
import { loadTraffic } from '../budgets/traffic-store.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { Time } from '../platform/http/field-types.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'

const HOURS = 24

/** Of the whole network: a single publisher's hours are its own business. */
export const readTrafficCurve = action({
  id: 'readTrafficCurve',
  tag: 'merchants',
  method: 'GET',
  path: '/api/v1/merchants/:merch_id/traffic_curve/',
  summary: 'The share of a day’s traffic that each hour has',
  description:
    'Of all publishers together, on an average day of the last four weeks. A daily budget is spent ' +
    'along this curve. A network without clicks has a flat one.',
  permission: 'figures.read',
  params: MerchantParams,
  entry: Type.Object({
    merch_id: Type.Integer(),
    hours: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
      minItems: HOURS,
      maxItems: HOURS,
      description: 'Of the 24 hours of a UTC day, from midnight on; they add up to 1',
    }),
    datetime_created: Time,
    datetime_updated: Time,
  }),
  run: async ({ db, params, now }) => {
    const shape = campaignShape(await loadTraffic(db), () => true)
    const total = shape.reduce((sum, weight) => sum + weight, 0)
    const hours = new Array<number>(HOURS).fill(0)
    for (const [hour, weight] of shape.entries()) {
      hours[hour % HOURS] = (hours[hour % HOURS] ?? 0) + weight / total
    }
    const at = formatTimestamp(now)
    return [{ merch_id: params.merch_id, hours, datetime_created: at, datetime_updated: at }]
  },
})

export const trafficCurveOperations: readonly Operation[] = [readTrafficCurve]
