/** The demo's shops in the past: they report orders, cancellations and returns. */
import type { Merchant } from '../../catalog/merchant-store.ts'
import { findMerchant } from '../../catalog/merchant-store.ts'
import { acceptOrders, acceptReturns, type IntakeDeps } from '../../orders/intake.ts'
import { readOrder, readReturn } from '../../orders/read-order.ts'
import type { Signal } from '../../orders/signal-store.ts'
import { UsualValues } from '../../orders/usual-value.ts'
import { formatCents, MICROS_PER_CENT } from '../../platform/money/money.ts'
import { DAY_MS, utcDay } from '../../platform/time/timestamp.ts'
import type { DemoState } from '../load.ts'
import { type DemoOffer, MERCHANTS } from '../network.ts'
import { pastOffers } from './past-offers.ts'
import type { Landing } from './play-visits.ts'
import type { PlannedClick, PurchaseFate } from './visits.ts'

/** A reader buys, or what becomes of an order later. */
export type ShopMoment = Purchase & { readonly kind: 'order' | 'cancellation' | 'return' }

interface Purchase {
  readonly atMs: number
  readonly orderedAtMs: number
  readonly slug: string // of the shop
  readonly orderId: string
  readonly clickId: string
  readonly offer: DemoOffer
  readonly quantity: number
  readonly fate: PurchaseFate
  readonly fateAfterMs: number
}

/** These shops report from their server; the others' pages report from the browser. */
const BY_SERVER = ['larder-and-loom', 'basecamp-direct']

/** The purchase that follows a click, if the shop has the product on that day. */
export function purchaseOf(
  { atMs, purchase }: PlannedClick,
  { url, clickId }: Landing,
  nowMs: number,
): ShopMoment | null {
  const slug = url.hostname.split('.')[0] ?? ''
  const merchant = MERCHANTS.find((item) => item.slug === slug)
  if (purchase === null || merchant === undefined) return null
  const boughtAtMs = atMs + purchase.afterMs
  const daysAgo = Math.max(0, Math.floor(nowMs / DAY_MS) - Math.floor(boughtAtMs / DAY_MS))
  const sku = url.pathname.split('/').at(-1) ?? ''
  const offer = pastOffers(merchant, daysAgo).find((item) => item.sku === sku)
  if (offer === undefined || !offer.isInStock) return null
  const { quantity, fate, fateAfterMs } = purchase
  const orderId = `${sku}-${Math.floor(boughtAtMs / 1_000).toString(36)}`
  const moment = { atMs: boughtAtMs, orderedAtMs: boughtAtMs, slug, orderId, clickId, offer }
  return { kind: 'order', ...moment, quantity, fate, fateAfterMs }
}

const FOLLOW_UPS = {
  kept: null,
  rejected: null, // by the operator
  cancelled: 'cancellation',
  returned: 'return',
} as const satisfies Record<PurchaseFate, ShopMoment['kind'] | null>

/** What the shop reports after an order, by its fate. */
export function followUpOf(moment: ShopMoment): ShopMoment | null {
  const kind = moment.kind === 'order' ? FOLLOW_UPS[moment.fate] : null
  return kind === null ? null : { ...moment, kind, atMs: moment.atMs + moment.fateAfterMs }
}

export class Shops {
  readonly #deps: IntakeDeps
  readonly #state: DemoState
  readonly #onReport: (merchId: number, signal: Signal) => void
  readonly #merchants = new Map<string, Merchant>()
  #limits: { readonly day: string; readonly values: UsualValues }

  constructor(
    deps: IntakeDeps,
    {
      state,
      onReport,
    }: {
      readonly state: DemoState
      readonly onReport: (merchId: number, signal: Signal) => void
    },
  ) {
    this.#deps = deps
    this.#limits = { day: '', values: new UsualValues(deps.db) }
    this.#state = state
    this.#onReport = onReport
  }

  static isByServer({ slug }: ShopMoment): boolean {
    return BY_SERVER.includes(slug)
  }

  async report(moment: ShopMoment): Promise<void> {
    const merchant = await this.#merchant(moment.slug)
    if (moment.kind === 'return') return this.#return(merchant, moment)
    const isCancelled = moment.kind === 'cancellation'
    const isByServer = isCancelled || BY_SERVER.includes(moment.slug)
    const nowMs = this.#deps.now()
    const source = isByServer ? 's2s' : 'pixel'
    const entry = {
      order: {
        ...{ id: moment.orderId, value: amount(moment), currency: 'USD' },
        ...({ click_ids: [moment.clickId], status: isCancelled ? 'cancelled' : 'placed' } as const),
        ...(isByServer ? { ordered_at: new Date(moment.orderedAtMs).toISOString() } : {}),
      },
      products: productsOf(moment),
    } as const
    const limit = isByServer ? null : await this.#limitOf(merchant)
    await acceptOrders(this.#deps, merchant, {
      orders: [readOrder(entry as never, { source, nowMs })],
      listName: 'orders',
      holdOf: (micros) => (limit !== null && (micros ?? 0) > limit ? 'review' : null),
    })
    this.#onReport(merchant.merch_id, isByServer ? 'server_order' : 'tag_checkout')
  }

  /** As of this day: the class caches a limit for a minute of another clock. */
  #limitOf({ merch_id: merchId }: Merchant): Promise<number> {
    const { db, now } = this.#deps
    const day = utcDay(now())
    if (day !== this.#limits.day) this.#limits = { day, values: new UsualValues(db) }
    return this.#limits.values.limitOf(merchId, new Date(now()))
  }

  async #return(merchant: Merchant, { orderId, offer }: ShopMoment): Promise<void> {
    const entry = { id: `R-${orderId}`, order_id: orderId, product_id: offer.sku, quantity: 1 }
    await acceptReturns(this.#deps, merchant, [readReturn(entry, this.#deps.now())])
    this.#onReport(merchant.merch_id, 'server_return')
  }

  async #merchant(slug: string): Promise<Merchant> {
    const known = this.#merchants.get(slug)
    if (known !== undefined) return known
    const merchant = await findMerchant(this.#deps.db, this.#state.merchants[slug] ?? 0)
    if (merchant === null) throw new Error(`the demo has no shop ${slug}`)
    this.#merchants.set(slug, merchant)
    return merchant
  }
}

const money = (cents: number): string => formatCents(cents * MICROS_PER_CENT)
const amount = ({ offer, quantity }: Purchase): string => money(offer.priceCents * quantity)

function productsOf({ offer, quantity }: Purchase) {
  const { sku, product, priceCents } = offer
  const { name, brand } = product
  return [{ id: sku, name, brand, quantity, price: money(priceCents) }]
}
