/** Exchange rates: list, set. Setting them releases the orders that waited for them. */
import Type from 'typebox'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { isRate } from '../orders/currency.ts'
import { insertRates, listRatePage } from '../orders/rate-store.ts'
import { releaseHeldOrders } from '../orders/release-held.ts'
import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { Time } from '../platform/http/field-types.ts'
import { ISO_4217 } from '../platform/money/iso4217.ts'
import { requireText } from '../platform/text/characters.ts'
import { formatTimestamp, isPlainDate, latestDay } from '../platform/time/timestamp.ts'
import type { OpenWriter } from './money-writer.ts'

const PATH = '/api/v1/network/rates/'
const SOURCE_LENGTH_MAX = 64
const RATE_LENGTH_MAX = 32
/** Some 80,000 rates: the history of a central bank takes a few calls, or the command. */
const BODY_BYTES_MAX = 8 * 1_048_576

export const RateRecord = Type.Object({
  rate_id: Type.String(),
  source: Type.String(),
  day: Type.String({ format: 'date' }),
  currency: Type.String({ description: 'ISO 4217' }),
  usd_per_base: Type.String({ description: 'US dollars for one unit of the base' }),
  currency_per_base: Type.String({ description: 'The currency for one unit of the same base' }),
  datetime_created: Time,
  datetime_updated: Time,
})

const decimal = (description: string) =>
  Type.Refine(
    Type.String({ maxLength: RATE_LENGTH_MAX, description }),
    (value) => typeof value !== 'string' || isRate(value),
    () => 'must be a decimal above 0, such as "1.0834"',
  )

const NewRate = Type.Object({
  day: Type.Refine(
    Type.String({ maxLength: RATE_LENGTH_MAX, description: 'Such as `2026-03-02`' }),
    (value) => typeof value !== 'string' || isPlainDate(value),
    () => 'must be a date, such as 2026-03-02',
  ),
  currency: Type.Refine(
    Type.String({ maxLength: 3, description: 'ISO 4217' }),
    (value) => typeof value !== 'string' || ISO_4217.has(value),
    () => 'must be a currency of ISO 4217, such as EUR',
  ),
  usd_per_base: Type.Optional(decimal('US dollars for one unit of the base; 1 if not sent')),
  currency_per_base: decimal('The currency for one unit of the same base'),
})

export const SetRates = Type.Object({
  rates: Type.Integer({ description: 'Rates that were sent' }),
  new: Type.Integer(),
  changed: Type.Integer({ description: 'Corrections of a stored rate' }),
  same: Type.Integer({ description: 'Stored already' }),
  orders_released: Type.Integer({
    description: 'Orders that waited for a rate, and now count',
  }),
})

const listRates = list({
  id: 'listRates',
  tag: 'network',
  path: PATH,
  summary: 'List exchange rates, the latest first',
  description: 'Of several rates of one day and currency the latest one counts.',
  permission: 'network.read',
  query: Type.Object({
    currency: Type.Optional(Type.String({ maxLength: 3, description: 'ISO 4217' })),
    source: Type.Optional(Type.String({ maxLength: SOURCE_LENGTH_MAX })),
  }),
  entry: RateRecord,
  run: async ({ db, query }) => {
    const { currency = null, source = null, limit } = query
    const rows = await listRatePage(db, { currency, source, before: cursorId(query), limit })
    return pageOf(rows, limit, {
      idOf: ({ rate_id }) => rate_id,
      toEntry: ({ datetime_created, ...rate }) => {
        const at = formatTimestamp(datetime_created)
        return { ...rate, datetime_created: at, datetime_updated: at }
      },
    })
  },
})

export const setRatesBy = (open: OpenWriter) =>
  action({
    id: 'setRates',
    tag: 'network',
    method: 'POST',
    path: PATH,
    summary: 'Set exchange rates, and release the orders that waited for them',
    description:
      'A rate that differs from the stored one of its day, currency and source corrects it. Orders ' +
      'that were converted before keep their rate.',
    permission: 'network.write',
    isLong: true,
    bodyBytesMax: BODY_BYTES_MAX,
    body: Type.Object({
      source: Type.String({
        description: `Who published them, 1 to ${SOURCE_LENGTH_MAX} characters`,
      }),
      rates: Type.Array(NewRate, { minItems: 1 }),
    }),
    entry: SetRates,
    run: async ({ db, body, now, audit }) => {
      const source = requireText('source', body.source, SOURCE_LENGTH_MAX)
      const faults = futureFaults(body.rates, latestDay(now.getTime()))
      if (faults.length > 0) throw badRequest(faults)
      const rates = body.rates.map((rate) => ({
        day: rate.day,
        currency: rate.currency,
        usdPerBase: rate.usd_per_base ?? '1',
        currencyPerBase: rate.currency_per_base,
      }))
      const counts = await db.transaction(async (tx) => {
        const inserted = await insertRates(tx, source, rates)
        const after = { source, rates: rates.length, ...inserted }
        await audit({ action: 'rates.set', target: `rates:${source}`, after }, tx)
        return inserted
      })
      const writer = { ...open(), db }
      const released = await releaseHeldOrders(writer)
      if (released > 0) await writer.folded()
      return [{ rates: rates.length, ...counts, orders_released: released }]
    },
  })

export const rateOperations = (open: OpenWriter): Operation[] => [listRates, setRatesBy(open)]

function futureFaults(rates: readonly { readonly day: string }[], lastDay: string): Fault[] {
  return rates.flatMap(({ day }, at) =>
    day > lastDay ? [{ field: `rates[${at}].day`, rule: 'must not lie in the future' }] : [],
  )
}
