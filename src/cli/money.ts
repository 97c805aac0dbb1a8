/** Commands on rates, orders, other networks, payments and reversals. */
import { readFile, stat } from 'node:fs/promises'
import { feedDecoder } from '../catalog/feeds/feed-text.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { appendMoney } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { listPayments } from '../ledger/payment-store.ts'
import { recordPayment } from '../ledger/record-payment.ts'
import { reversePayment } from '../ledger/reverse-payment.ts'
import { importNetwork } from '../networks/import-network.ts'
import { type NetworkMap, readNetworkMap } from '../networks/network-map.ts'
import { lockNetwork } from '../networks/network-store.ts'
import { READY_MAPS } from '../networks/ready-network-maps.ts'
import { importOrders, importReturns } from '../orders/import-orders.ts'
import { decisionRefusal } from '../orders/order-states.ts'
import { insertRates } from '../orders/rate-store.ts'
import { readRates } from '../orders/read-rates.ts'
import { releaseHeldOrders } from '../orders/release-held.ts'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import type { Micros } from '../platform/money/money.ts'
import { withSessionLocks } from '../platform/postgres/session-locks.ts'
import { requireText } from '../platform/text/characters.ts'
import { CSV_BYTES_MAX } from '../platform/text/csv.ts'
import { explainOrder, listHeldOrders } from '../reports/order-record-store.ts'
import { acceptReversal, showReversal } from '../stats/reverse-clicks.ts'
import type { CommandContext } from './command.ts'
import { withEventWriter } from './event-writer.ts'
import { openRejects } from './rejects-file.ts'

const NAME_LENGTH_MAX = 64

export async function importRatesCommand(
  context: CommandContext,
  options: { readonly file: string; readonly source: string },
) {
  const source = requireText('source', options.source, NAME_LENGTH_MAX)
  const rates = readRates(await readText(options.file), context.now().getTime())
  const db = await context.database()
  const counts = await insertRates(db, source, rates)
  const released = await withEventWriter(context, async (writer) => {
    const count = await releaseHeldOrders(writer)
    if (count > 0) await writer.folded()
    return count
  })
  return { rates: rates.length, ...counts, orders_released: released }
}

interface ImportOptions {
  readonly merchant: number
  readonly file: string
  readonly rejects?: string
}

export const importOrdersCommand = (context: CommandContext, options: ImportOptions) =>
  importFile(context, options, importOrders)

export const importReturnsCommand = (context: CommandContext, options: ImportOptions) =>
  importFile(context, options, importReturns)

async function importFile(
  context: CommandContext,
  options: ImportOptions,
  run: typeof importOrders | typeof importReturns,
) {
  const text = await readText(options.file)
  const merchant = await requireMerchant(await context.database(), options.merchant)
  await using rejects = await openRejects(options.rejects, { read: [options.file] })
  return await withEventWriter(context, async (writer) => {
    const { rejected, ...imported } = await run(writer, merchant, text)
    await rejects.add(rejected) // first: `folded` rejects when it takes too long
    await writer.folded()
    return { ...imported, rejected: rejected.length, rejects: rejected.slice(0, REJECTS_SHOWN) }
  })
}

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
  // One network whatever the case: its name is part of what an import replaces.
  const network = requireText('network', options.network, NAME_LENGTH_MAX).toLowerCase()
  const map = await findMap(network, options.map)
  const text = await readText(options.file)
  const read = [options.file, options.map].filter((path) => path !== undefined)
  await using rejects = await openRejects(options.rejects, { read })
  const { replaceDays: replacesDays = false } = options
  const db = await context.database()
  return await withSessionLocks(db, IMPORT_SILENCE_MS_MAX, async (session) => {
    await lockNetwork(session, network)
    return await withEventWriter(context, async (writer) => {
      const file = { network, map, text, replacesDays }
      const { rejects: rejected, ...imported } = await importNetwork(writer, file)
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
  const { merch_id: merchId } = await requireMerchant(await context.database(), options.merchant)
  return withEventWriter(context, (writer) =>
    recordPayment(writer, {
      merchId,
      amountMicros: options.amount,
      paidOn: options.on,
      reference: options.reference.trim(),
    }),
  )
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
  const { merch_id: merchId } = await requireMerchant(await context.database(), options.merchant)
  return withEventWriter(context, (writer) =>
    reversePayment(writer, {
      merchId,
      reference: options.reference.trim(),
      reason: options.reason,
    }),
  )
}

export async function reverseCommand(
  context: CommandContext,
  options: { readonly click?: string; readonly result?: string; readonly reason: string },
) {
  return withEventWriter(context, async (writer) => {
    const accepted = await acceptReversal(writer, {
      clickId: options.click ?? null,
      resultNumber: options.result ?? null,
      reason: options.reason,
    })
    await writer.folded()
    return showReversal(writer.db, accepted)
  })
}

interface OrderOptions {
  readonly merchant: number
  readonly order: string
}

export const approveOrderCommand = (context: CommandContext, options: OrderOptions) =>
  decideOrder(context, options, { kind: 'approve' })

export const rejectOrderCommand = (
  context: CommandContext,
  { reason, ...options }: OrderOptions & { readonly reason: string },
) => decideOrder(context, options, { kind: 'reject', reason })

/** A person's word on an order that is held, or on one that is not locked yet; else refused. */
async function decideOrder(
  context: CommandContext,
  { merchant, order: orderId }: OrderOptions,
  decision: { readonly kind: 'approve' } | { readonly kind: 'reject'; readonly reason: string },
) {
  const db = await context.database()
  const { merch_id: merchId } = await requireMerchant(db, merchant)
  return withEventWriter(context, async (writer) => {
    const known = await requireOrder(context, { merchId, orderId })
    const standing = { ...known, isTold: known.accepted_at !== null }
    const refusal = decisionRefusal(standing, decision.kind)
    if (refusal !== null) throw badRequest([{ field: 'order', rule: refusal }])
    const body = { order_id: orderId, ...decision }
    await appendMoney(writer, EVENT_TYPE.orderDecision, [{ merchId, body }])
    await writer.folded()
    return requireOrder(context, { merchId, orderId })
  })
}

export async function listHeldCommand(context: CommandContext) {
  return listHeldOrders(await context.database())
}

export function showOrderCommand(context: CommandContext, options: OrderOptions) {
  return requireOrder(context, { merchId: options.merchant, orderId: options.order })
}

async function requireOrder(
  context: CommandContext,
  key: { readonly merchId: number; readonly orderId: string },
) {
  const order = await explainOrder(await context.database(), { ...key, now: context.now() })
  if (order !== null) return order
  throw notFound(`Merchant ${key.merchId} has no order ${key.orderId}`)
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
