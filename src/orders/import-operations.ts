/**
 * Imports of orders and returns from a merchant's file. Only commands call them.
 *
 * An import is one entry of the audit log, in the transaction of its events.
 */
import Type from 'typebox'
import { action, type Call } from '../accounts/operation.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import type { AppendWhole } from '../events/append-money.ts'
import { type AppendFile, importOrders, importReturns } from './import-orders.ts'
import type { IntakeDeps } from './intake.ts'

/** A writer of whole files. */
export type OpenFileWriter = () => IntakeDeps & { readonly appendWhole: AppendWhole }

const SPEC = {
  tag: 'merchants',
  method: 'POST',
  // Orders are money: a merchant reports its own ones signed, from its server.
  permission: 'network.write',
  isLong: true,
  params: MerchantParams,
  body: Type.Object({
    file_name: Type.String({ description: 'For the audit log' }),
    text: Type.String({ description: 'CSV' }),
  }),
  entry: Type.Object({
    rows: Type.Integer(),
    imported: Type.Integer({ description: 'Orders or returns, not rows' }),
    rejected: Type.Array(
      Type.Object({
        line: Type.Integer(),
        id: Type.String(),
        faults: Type.Array(Type.Object({ field: Type.String(), rule: Type.String() })),
      }),
    ),
  }),
} as const

export const importOrdersBy = (open: OpenFileWriter) =>
  action({
    ...SPEC,
    id: 'importOrders',
    path: '/api/v1/merchants/:merch_id/orders/imports/',
    summary: 'Import orders from a file',
    run: (call) => importFile(call, open(), { run: importOrders, subject: 'orders' }),
  })

export const importReturnsBy = (open: OpenFileWriter) =>
  action({
    ...SPEC,
    id: 'importReturns',
    path: '/api/v1/merchants/:merch_id/returns/imports/',
    summary: 'Import returns from a file',
    run: (call) => importFile(call, open(), { run: importReturns, subject: 'returns' }),
  })

type ImportCall = Call<
  { readonly merch_id: number },
  unknown,
  { readonly file_name: string; readonly text: string }
>

async function importFile(
  { db, params, body, audit }: ImportCall,
  writer: ReturnType<OpenFileWriter>,
  { run, subject }: { readonly run: typeof importOrders; readonly subject: string },
) {
  const { file_name, text } = body
  const merchant = await requireMerchant(db, params.merch_id)
  const append: AppendFile = (events, { rows, imported, rejected }) => {
    const after = { file_name, rows, imported, rejected: rejected.length }
    const target = `merchant:${merchant.merch_id}`
    return writer.appendWhole(events, (tx) =>
      audit({ action: `${subject}.import`, target, after }, tx),
    )
  }
  const { rejected, ...counts } = await run(writer, merchant, { text, append })
  return [{ ...counts, rejected: rejected.map(withLists) }]
}

/** Fields of an answer are lists that may be changed. */
const withLists = <E extends { readonly faults: readonly object[] }>(entry: E) => ({
  ...entry,
  faults: [...entry.faults] as { field: string; rule: string }[],
})
