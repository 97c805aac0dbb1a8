/** Commands on rates, orders, other networks, payments and reversals. */
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { perform } from '../accounts/operation.ts'
import { feedDecoder } from '../catalog/feeds/feed-text.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { findPayment, listPayments } from '../ledger/payment-store.ts'
import { importNetworkBy } from '../networks/import-operation.ts'
import { type NetworkMap, readNetworkMap } from '../networks/network-map.ts'
import { lockNetwork } from '../networks/network-store.ts'
import { READY_MAPS } from '../networks/ready-network-maps.ts'
import { approveOrderBy, rejectOrderBy } from '../operator/held-order-operations.ts'
import { recordPaymentBy, reversePaymentBy } from '../operator/payment-operations.ts'
import { setRatesBy } from '../operator/rate-operations.ts'
import { reverseClicksBy } from '../operator/reversal-operations.ts'
import { importOrdersBy, importReturnsBy } from '../orders/import-operations.ts'
import type { FoldedIntake } from '../orders/intake.ts'
import { decisionRefusal } from '../orders/order-states.ts'
import { readRates } from '../orders/read-rates.ts'
import { badRequest, notFound, wrongState } from '../platform/errors/api-errors.ts'
import { formatExact, type Micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { withSessionLocks } from '../platform/postgres/session-locks.ts'
import { requireText } from '../platform/text/characters.ts'
import { CSV_BYTES_MAX } from '../platform/text/csv.ts'
import { requireOrder } from '../reports/decide-order.ts'
import { findOrderId, listHeldOrders } from '../reports/order-record-store.ts'
import { asShell, namingOptions } from './as-shell.ts'
import type { CommandContext } from './command.ts'
import { withEventWriter } from './event-writer.ts'
import { openRejects } from './rejects-file.ts'

const NAME_LENGTH_MAX = 64

export async function importRatesCommand(
  context: CommandContext,
  options: { readonly file: string; readonly source: string },
) {
  const source = requireText('source', options.source, NAME_LENGTH_MAX)
  const read = readRates(await readText(options.file), context.now().getTime())
  const rates = read.map(({ day, currency, usdPerBase, currencyPerBase }) => ({
    ...{ day, currency, usd_per_base: usdPerBase, currency_per_base: currencyPerBase },
  }))
  return withEventWriter(context, async (writer) => {
    const call = { ...asShell(context, writer.db), body: { source, rates } }
    const [imported] = await perform(
      setRatesBy(() => writer),
      call,
    )
    return imported
  })
}

interface ImportOptions {
  readonly merchant: number
  readonly file: string
  readonly rejects?: string
}

export const importOrdersCommand = (context: CommandContext, options: ImportOptions) =>
  importFile(context, options, importOrdersBy)

export const importReturnsCommand = (context: CommandContext, options: ImportOptions) =>
  importFile(context, options, importReturnsBy)

async function importFile(
  context: CommandContext,
  options: ImportOptions,
  operationBy: typeof importOrdersBy | typeof importReturnsBy,
) {
  const text = await readText(options.file)
  const { merch_id } = await requireMerchant(await context.database(), options.merchant)
  await using rejects = await openRejects(options.rejects, { read: [options.file] })
  return await withEventWriter(context, async (writer) => {
    const body = { file_name: basename(options.file), text }
    const call = { ...asShell(context, writer.db), params: { merch_id }, body }
    const operation = operationBy(() => writer)
    const [{ rejected, ...imported } = NOTHING] = await perform(operation, call)
    await rejects.add(rejected) // first: `folded` rejects when it takes too long
    await writer.folded()
    return { ...imported, rejected: rejected.length, rejects: rejected.slice(0, REJECTS_SHOWN) }
  })
}

const NOTHING = { rows: 0, imported: 0, rejected: [] }
const REJECTS_SHOWN = 100 // The file that --rejects names has all of them.

export async function importNetworkCommand(
  context: CommandContext,
  options: {
    readonly network: string
    readonly file: string
    readonly map?: string
    readonly rejects?: string
    readonly replaceDays?: boolean
  },
) {
  // One network whatever the case: an import replaces rows by its name.
  const network = requireText('network', options.network, NAME_LENGTH_MAX).toLowerCase()
  const map = await findMap(network, options.map)
  const text = await readText(options.file)
  const read = [options.file, options.map].filter((path) => path !== undefined)
  await using rejects = await openRejects(options.rejects, { read })
  const { replaceDays: replaces_days = false } = options
  const db = await context.database()
  return await withSessionLocks(db, IMPORT_SILENCE_MS_MAX, async (session) => {
    await lockNetwork(session, network)
    return await withEventWriter(context, async (writer) => {
      const body = { network, file_name: basename(options.file), text, replaces_days }
      const operation = importNetworkBy({ open: () => writer, map })
      const [done] = await perform(operation, { ...asShell(context, writer.db), body })
      const { rejects: rejected, ...imported } = done as NonNullable<typeof done>
      await rejects.add(rejected)
      await writer.folded()
      return { ...imported, rejects: rejected.slice(0, REJECTS_SHOWN) }
    })
  })
}

/** Longer than an import of the largest file with its fold. */
const IMPORT_SILENCE_MS_MAX = 30 * 60_000

/** The map that was asked for, a ready one or the operator's own file; else the network's. */
async function findMap(network: string, asked: string | undefined): Promise<NetworkMap> {
  const ready = READY_MAPS[(asked ?? network).toLowerCase()]
  if (ready !== undefined) return ready
  if (asked !== undefined) return readNetworkMap(await readText(asked))
  const known = Object.keys(READY_MAPS).join(', ')
  const rule = `there is none for "${network}": give a JSON file, or one of ${known}`
  throw badRequest([{ field: 'map', rule }])
}

export async function recordPaymentCommand(
  context: CommandContext,
  options: {
    readonly merchant: number
    readonly amount: Micros | null
    readonly on: string
    readonly reference: string
  },
) {
  const { amount, on: paid_on, reference, merchant: merch_id } = options
  await requireMerchant(await context.database(), merch_id)
  const body = { merch_id, amount_usd: formatExact(amount ?? 0), paid_on, reference }
  return withEventWriter(context, async (writer) => {
    const call = { ...asShell(context, writer.db), body }
    const names = { amount_usd: 'amount', paid_on: 'on' }
    return withoutTimes(
      await namingOptions(
        names,
        perform(
          recordPaymentBy(() => writer),
          call,
        ),
      ),
    )
  })
}

export async function listPaymentsCommand(
  context: CommandContext,
  { merchant }: { readonly merchant?: number },
) {
  const db = await context.database()
  const merchId = merchant === undefined ? null : (await requireMerchant(db, merchant)).merch_id
  return listPayments(db, merchId)
}

export async function reversePaymentCommand(
  context: CommandContext,
  options: { readonly merchant: number; readonly reference: string; readonly reason: string },
) {
  const { reason } = options
  const db = await context.database()
  const { merch_id: merchId } = await requireMerchant(db, options.merchant)
  const reference = options.reference.trim()
  const payment = await findPayment(db, { merchId, reference })
  if (payment === null) {
    throw notFound(`The merchant has no payment ${reference}; souk payment list shows them`)
  }
  const wanted = { params: { payment_id: payment.eventId }, body: { reason } }
  return withEventWriter(context, async (writer) => {
    const call = { ...asShell(context, writer.db), ...wanted }
    return withoutTimes(
      await perform(
        reversePaymentBy(() => writer),
        call,
      ),
    )
  })
}

export async function reverseCommand(
  context: CommandContext,
  options: { readonly click?: string; readonly result?: string; readonly reason: string },
) {
  const { click = null, result = null, reason } = options
  return withEventWriter(context, async (writer) => {
    const call = { ...asShell(context, writer.db), body: { click, result, reason } }
    return withoutTimes(
      await perform(
        reverseClicksBy(() => writer),
        call,
      ),
    )
  })
}

interface OrderOptions {
  readonly merchant: number
  readonly order: string
}

export const approveOrderCommand = (context: CommandContext, options: OrderOptions) =>
  decide(context, options, (writer, call) =>
    perform(
      approveOrderBy(() => writer),
      call,
    ),
  )

export const rejectOrderCommand = (
  context: CommandContext,
  { reason, ...options }: OrderOptions & { readonly reason: string },
) =>
  decide(context, options, (writer, call) =>
    perform(
      rejectOrderBy(() => writer),
      { ...call, body: { reason } },
    ),
  )

/** The merchant's id of an order becomes ours, and the answer is as of `orders show`. */
async function decide(
  context: CommandContext,
  { merchant, order: orderId }: OrderOptions,
  perform: (writer: FoldedIntake, call: DecisionCall) => Promise<unknown>,
) {
  const db = await context.database()
  const { merch_id: merchId } = await requireMerchant(db, merchant)
  const key = { merchId, orderId }
  const id = await findOrderId(db, key)
  if (id === null) {
    const known = await requireOrder(db, { ...key, now: context.now() })
    const state = { ...known, isReported: false }
    throw wrongState({ field: 'order', rule: decisionRefusal(state, 'approve') ?? '' })
  }
  return withEventWriter(context, async (writer) => {
    await perform(writer, { ...asShell(context, writer.db), params: { order_id: id } })
    return requireOrder(writer.db, { ...key, now: context.now() })
  })
}

type DecisionCall = ReturnType<typeof asShell<Db>> & {
  readonly params: { readonly order_id: string }
}

export async function listHeldCommand(context: CommandContext) {
  return listHeldOrders(await context.database())
}

export async function showOrderCommand(context: CommandContext, options: OrderOptions) {
  const key = { merchId: options.merchant, orderId: options.order }
  return requireOrder(await context.database(), { ...key, now: context.now() })
}

/** Of an operation's record what the command prints: without the times of the record. */
function withoutTimes<Entry extends RecordTimes>(entries: readonly Entry[]) {
  return entries.map(({ datetime_created: _, datetime_updated: __, ...entry }) => entry)[0]
}

interface RecordTimes {
  readonly datetime_created: string
  readonly datetime_updated: string
}

async function readText(path: string): Promise<string> {
  const found = await stat(path)
  if (!found.isFile()) throw badRequest([{ field: 'file', rule: `${path} is not a file` }])
  if (found.size > CSV_BYTES_MAX) {
    throw badRequest([{ field: 'file', rule: `at most ${CSV_BYTES_MAX} bytes; split it` }])
  }
  // Spreadsheets write what feeds are written in: UTF-16 or Windows-1252 as well as UTF-8.
  const decoder = feedDecoder()
  return decoder.decode(await readFile(path)) + decoder.end()
}
