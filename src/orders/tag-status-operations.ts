/** Whether a merchant's tag and server report, as an operation of the management API. */
import Type from 'typebox'
import { action, type Operation } from '../accounts/operation.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { orNull, Time } from '../platform/http/field-types.ts'
import { DAY_MS, formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { listRefusals } from './intake-store.ts'
import { RefusalRecord, toRefusalRecord } from './schema.ts'
import { countRefusals, readSignals, type Signal } from './signal-store.ts'

/** Of each kind, proven to come from the merchant's server and not. `refused/` has more. */
const REFUSED_SHOWN = 20

const LastTime = (description: string) => orNull(Time, description)

export const TagStatus = Type.Object({
  merch_id: Type.Integer(),
  last_page: LastTime('When the tag last reported a page; null: never'),
  last_checkout: LastTime('When the tag last reported an order; null: never'),
  last_server_order: LastTime('When the shop’s server last reported an order; null: never'),
  last_server_return: LastTime('When the shop’s server last reported a return; null: never'),
  refused_24h: Type.Integer({ description: 'Reports refused in the last 24 hours' }),
  refused: Type.Array(RefusalRecord, {
    description: 'The latest refused reports, and those accepted with warnings, newest first',
  }),
  datetime_created: Time,
  datetime_updated: Type.String({ format: 'date-time', description: 'The latest of the times' }),
})

const readTagStatus = action({
  id: 'readMerchantTagStatus',
  tag: 'merchants',
  method: 'GET',
  path: '/api/v1/merchants/:merch_id/tag_status/',
  summary: 'When the tag and the server last reported, and refused reports',
  description: 'Times are exact to a minute.',
  permission: 'figures.read',
  params: MerchantParams,
  entry: TagStatus,
  run: async ({ db, params, now }) => {
    const { merch_id: merchId } = params
    const { datetime_created } = await requireMerchant(db, merchId)
    const signals = await readSignals(db, merchId)
    const refused = await listRefusals(db, { merchId, limit: REFUSED_SHOWN })
    const since = new Date(now.getTime() - DAY_MS)
    const at = (signal: Signal) => formatTimestampOrNull(signals.get(signal) ?? null)
    const times = [datetime_created, ...signals.values(), ...refused.map((row) => row.at)]
    return [
      {
        merch_id: merchId,
        last_page: at('tag_page'),
        last_checkout: at('tag_checkout'),
        last_server_order: at('server_order'),
        last_server_return: at('server_return'),
        refused_24h: await countRefusals(db, { merchId, since }),
        refused: refused.map(toRefusalRecord),
        datetime_created: formatTimestamp(datetime_created),
        datetime_updated: formatTimestamp(new Date(Math.max(...times.map(Number)))),
      },
    ]
  },
})

export const tagStatusOperations: readonly Operation[] = [readTagStatus]
