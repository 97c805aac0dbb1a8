/** What a merchant's months cost, as operations of the management API. */
import Type from 'typebox'
import { action, list, type Operation } from '../accounts/operation.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { matchMerchantDebts } from '../ledger/debt-store.ts'
import { accountOf } from '../ledger/release.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { pageOf, readCursor } from '../platform/http/list-cursor.ts'
import { formatExact, sumExact } from '../platform/money/money.ts'
import { endOfMonth, nextMonth } from '../platform/time/calendar.ts'
import {
  InvoiceDetail,
  InvoiceRecord,
  invoiceCsv,
  invoicePage,
  toInvoice,
  toLine,
} from './invoice-record.ts'
import { findMonth, listInvoiceLines, listMonths } from './invoice-store.ts'

const PATH = '/api/v1/merchants/:merch_id/invoices/'
const MONTH_PATTERN = '^\\d{4}-(?:0[1-9]|1[0-2])$'

const listInvoices = list({
  id: 'listInvoices',
  tag: 'merchants',
  path: PATH,
  summary: 'What each month cost a merchant, newest first',
  description: 'Months without an entry in the ledger are left out.',
  permission: 'payments.read',
  params: MerchantParams,
  entry: InvoiceRecord,
  run: async ({ db, params, query: { limit, cursor }, now }) => {
    const { merch_id: merchId } = params
    const [before = null] = readCursor(cursor, ['text']) ?? []
    const page = { merchId, before: before === null ? null : String(before), limit: limit + 1 }
    return pageOf(await listMonths(db, page), limit, {
      cursorOf: ({ month }) => [month],
      entryOf: (sums) => toInvoice(sums, { merchId, now }),
    })
  },
})

const readInvoice = action({
  id: 'readInvoice',
  tag: 'merchants',
  method: 'GET',
  path: `${PATH}:month/`,
  summary: 'What a month cost a merchant, by publisher and campaign, and what is due',
  description:
    'Every amount is a sum of the ledger. `Accept: text/csv` gets a file, `Accept: text/html` a ' +
    'page to print.',
  permission: 'payments.read',
  params: Type.Object({
    ...MerchantParams.properties,
    month: Type.String({ pattern: MONTH_PATTERN, description: 'YYYY-MM' }),
  }),
  entry: InvoiceDetail,
  forms: { 'text/csv': invoiceCsv, 'text/html': invoicePage },
  // As of one moment: a payment in between would be missing on one side.
  run: ({ db, params, now }) =>
    db.transaction(
      async (tx) => {
        const { merch_id: merchId, month } = params
        const sums = await findMonth(tx, { merchId, month, next: nextMonth(month) })
        if (sums === null) throw notFound(`No entry of ${month} is in the ledger`)
        const until = new Date(Math.min(endOfMonth(month).getTime(), now.getTime()))
        const matched = await matchMerchantDebts(tx, { merchId, until })
        const owed = sumExact(matched.open.map(({ owedMicros }) => owedMicros))
        const { owed_usd, credit_usd } = accountOf(matched)
        const notDue = BigInt(sums.closing_micros) - owed + BigInt(matched.creditMicros)
        const { name: merchant } = await requireMerchant(tx, merchId)
        return [
          {
            ...toInvoice(sums, { merchId, now }),
            merchant,
            due_usd: owed_usd,
            credit_usd,
            not_due_usd: formatExact(notDue),
            lines: (await listInvoiceLines(tx, { merchId, month })).map(toLine),
          },
        ]
      },
      { isSnapshot: true },
    ),
})

export const invoiceOperations: readonly Operation[] = [listInvoices, readInvoice]
