/** Payouts to publishers: what is due, the file for the bank, confirm as paid. */
import Type from 'typebox'
import { sliceOf } from '../accounts/id-pages.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { statementId } from '../ledger/statement.ts'
import { type IssuedStatement, lastIssuableMonth } from '../ledger/statement-store.ts'
import { badRequest, type Fault, notFound, wrongState } from '../platform/errors/api-errors.ts'
import { Dollars, orNull, TextOrNull, Time } from '../platform/http/field-types.ts'
import { canBeSmallId } from '../platform/ids.ts'
import { formatCents, formatExact } from '../platform/money/money.ts'
import { textFaults } from '../platform/text/characters.ts'
import { formatTimestamp, isPlainDate, latestDay } from '../platform/time/timestamp.ts'
import { StatementRecord } from '../reports/schema.ts'
import { toStatementRecord } from '../reports/statement-record.ts'
import {
  areStatementsIssued,
  findPayout,
  insertPaidPayout,
  listPayoutRows,
  type PayoutRow,
} from './payout-store.ts'

const PATH = '/api/v1/network/payouts/'
const REFERENCE_LENGTH_MAX = 100
const DAY_LENGTH_MAX = 32

const Month = Type.String({ pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$', description: '`2026-03`' })

export const PayoutRecord = Type.Object({
  statement_id: Type.String(),
  pub_id: Type.Integer(),
  publisher_slug: Type.String(),
  publisher_name: Type.String(),
  month: Type.String(),
  amount_usd: Dollars,
  state: Type.Enum(['due', 'paid']),
  paid_on: orNull(Type.String({ format: 'date' })),
  reference: TextOrNull,
  datetime_created: Time,
  datetime_updated: Time,
})

const listPayouts = list({
  id: 'listPayouts',
  tag: 'network',
  path: PATH,
  summary: 'List payouts of issued statements, the latest month first',
  description: 'A statement below the minimum payout is left out: its balance moves on.',
  permission: 'payments.read',
  query: Type.Object({
    month: Type.Optional(Month),
    state: Type.Optional(Type.Enum(['due', 'paid'])),
  }),
  entry: PayoutRecord,
  run: async ({ db, query }) => {
    const { month = null, state } = query
    const isPaid = state === undefined ? null : state === 'paid'
    return sliceOf((await listPayoutRows(db, { month, isPaid })).map(toRecord), query)
  },
})

const readPayoutFile = list({
  id: 'readPayoutFile',
  tag: 'network',
  path: `${PATH}file/`,
  summary: 'The payout file of a month: recipients and amounts',
  description:
    'With `Accept: text/csv` the file of `souk payout file`. 409 while the statements of the month ' +
    'are not issued: a worker does it every night, and `POST /api/v1/network/statements/` at once.',
  permission: 'payments.read',
  query: Type.Object({ month: Month }),
  entry: Type.Object({
    statement_id: Type.String(),
    publisher_slug: Type.String(),
    publisher_name: Type.String(),
    month: Type.String(),
    amount_usd: Type.String({ description: 'US dollars, two decimals' }),
  }),
  run: async ({ db, query, now }) => {
    const { month } = query
    const last = lastIssuableMonth(now)
    if (month > last)
      throw badRequest([{ field: 'month', rule: `at most ${last}: it must be over` }])
    if (!(await areStatementsIssued(db, month))) {
      throw wrongState({ field: 'month', rule: 'its statements are not issued yet' })
    }
    const rows = await listPayoutRows(db, { month, isPaid: null })
    const lines = rows.map((row) => ({
      statement_id: statementId(row.pub_id, row.month),
      publisher_slug: row.slug,
      publisher_name: row.name,
      month: row.month,
      amount_usd: formatCents(row.payout_micros),
    }))
    return sliceOf(lines, query)
  },
})

const confirmPayout = action({
  id: 'confirmPayout',
  tag: 'network',
  method: 'POST',
  path: `${PATH}:statement_id/confirm/`,
  summary: 'Confirm that a payout was paid',
  description: '409 if it was confirmed before.',
  permission: 'network.write',
  params: Type.Object({ statement_id: Type.String({ description: 'Such as `S7-202603`' }) }),
  body: Type.Object({
    paid_on: Type.String({ maxLength: DAY_LENGTH_MAX, description: 'Such as `2026-04-15`' }),
    reference: Type.Optional(orNull(Type.String({ description: 'The bank’s' }))),
  }),
  entry: PayoutRecord,
  run: async ({ db, params, body, now, audit }) => {
    const { statement_id } = params
    const key = readStatementId(statement_id)
    const payout = key === null ? null : await findPayout(db, key)
    if (key === null || payout === null) throw notFound(`No payout ${statement_id}`)
    const reference = body.reference ?? null
    const faults = paidFaults({ paidOn: body.paid_on, reference }, latestDay(now.getTime()))
    if (faults.length > 0) throw badRequest(faults)
    if (!(await insertPaidPayout(db, key, { on: body.paid_on, reference, at: now }))) {
      throw wrongState({ field: 'statement_id', rule: 'was confirmed as paid before' })
    }
    const after = {
      amount_usd: formatExact(payout.payout_micros),
      paid_on: body.paid_on,
      reference,
    }
    await audit({ action: 'payout.confirm', target: `statement:${statement_id}`, after })
    const paid = { paid_on: body.paid_on, paid_reference: reference, paid_confirmed_at: now }
    return [toRecord({ ...payout, ...paid })]
  },
})

/** `issue` settles every merchant, which takes seconds in a large network. */
export const issueStatementsBy = (issue: (now: Date) => Promise<readonly IssuedStatement[]>) =>
  action({
    id: 'issueStatements',
    tag: 'network',
    method: 'POST',
    path: '/api/v1/network/statements/',
    summary: 'Issue the missing statements of all months that are over',
    description: 'A worker does it every night. The answer has those that were missing.',
    permission: 'network.write',
    isLong: true,
    entry: Type.Object({
      ...StatementRecord.properties,
      datetime_created: Time,
      datetime_updated: Time,
    }),
    run: async ({ now, audit }) => {
      const issued = (await issue(now)).map(toStatementRecord)
      const after = { issued: issued.map(({ statement_id }) => statement_id) }
      if (issued.length > 0) {
        await audit({ action: 'statements.issue', target: 'statements', after })
      }
      return issued.map((statement) => {
        const { issued_at: at } = statement
        return { ...statement, datetime_created: at, datetime_updated: at }
      })
    },
  })

export const payoutOperations = (deps: {
  readonly issueStatements: (now: Date) => Promise<readonly IssuedStatement[]>
}): Operation[] => [
  listPayouts,
  readPayoutFile,
  confirmPayout,
  issueStatementsBy(deps.issueStatements),
]

function readStatementId(text: string): { pubId: number; month: string } | null {
  const [, id = '', year, month] = /^S(\d{1,10})-(\d{4})(0[1-9]|1[0-2])$/.exec(text) ?? []
  return canBeSmallId(Number(id)) ? { pubId: Number(id), month: `${year}-${month}` } : null
}

function paidFaults(
  { paidOn, reference }: { readonly paidOn: string; readonly reference: string | null },
  lastDay: string,
): Fault[] {
  const isDay = isPlainDate(paidOn)
  return [
    ...(isDay ? [] : [{ field: 'paid_on', rule: 'must be a date, such as 2026-03-02' }]),
    ...(isDay && paidOn > lastDay
      ? [{ field: 'paid_on', rule: 'must not lie in the future' }]
      : []),
    ...(reference === null ? [] : textFaults('reference', reference, REFERENCE_LENGTH_MAX)),
  ]
}

function toRecord(row: PayoutRow) {
  return {
    statement_id: statementId(row.pub_id, row.month),
    pub_id: row.pub_id,
    publisher_slug: row.slug,
    publisher_name: row.name,
    month: row.month,
    amount_usd: formatExact(row.payout_micros),
    state: row.paid_confirmed_at === null ? ('due' as const) : ('paid' as const),
    paid_on: row.paid_on,
    reference: row.paid_reference,
    datetime_created: formatTimestamp(row.issued_at),
    datetime_updated: formatTimestamp(row.paid_confirmed_at ?? row.issued_at),
  }
}
