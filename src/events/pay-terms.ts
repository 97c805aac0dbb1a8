/**
 * What a merchant pays: fixed in the auction, sealed into the link, and recorded with the click.
 * Its orders are paid by the same terms, whatever the campaign says later.
 */
import { type Micros, micros } from '../platform/money/money.ts'
import { type LogEvent, MODEL, type Model } from './event.ts'

export type PayTerms =
  | { readonly model: 'none' } // Nobody pays: the link led to its own destination.
  | { readonly model: 'cpc'; readonly pricePerClickMicros: Micros }
  | OrderTerms

/** Terms under which orders pay, not clicks. */
export type OrderTerms =
  | { readonly model: 'cpa'; readonly ratePpm: number } // of the order's value
  | { readonly model: 'epp'; readonly paymentMicros: Micros } // per order

export const NO_TERMS: PayTerms = { model: 'none' }

/** Pay terms as two numbers: the form of sealed links, events and rows. */
export interface PackedTerms {
  readonly model: Model
  /** Micros per click (CPC) or per order (EPP), or a rate in ppm (CPA). */
  readonly amount: number
}

export function packTerms(terms: PayTerms): PackedTerms {
  return { model: MODEL[terms.model], amount: amountOf(terms) }
}

function amountOf(terms: PayTerms): number {
  switch (terms.model) {
    case 'none':
      return 0
    case 'cpc':
      return terms.pricePerClickMicros
    case 'cpa':
      return terms.ratePpm
    case 'epp':
      return terms.paymentMicros
  }
}

export function unpackTerms({ model, amount }: PackedTerms): PayTerms {
  switch (model) {
    case MODEL.none:
      return NO_TERMS
    case MODEL.cpc:
      return { model: 'cpc', pricePerClickMicros: micros(amount) }
    case MODEL.cpa:
      return { model: 'cpa', ratePpm: amount }
    case MODEL.epp:
      return { model: 'epp', paymentMicros: micros(amount) }
  }
}

/** The terms of a click's event. */
export function termsOf({ model, termsAmount }: Pick<LogEvent, 'model' | 'termsAmount'>): PayTerms {
  return unpackTerms({ model: model ?? MODEL.none, amount: termsAmount ?? 0 })
}

const IS_PER_ORDER: Readonly<Record<PayTerms['model'], boolean>> = {
  none: false,
  cpc: false,
  cpa: true,
  epp: true,
}

/** Whether orders pay, and not the click. */
export const isPerOrder = (terms: PayTerms): terms is OrderTerms => IS_PER_ORDER[terms.model]

/** The cost of the click itself, before any order; 0 if orders pay. */
export const pricePerClick = (terms: PayTerms): Micros =>
  terms.model === 'cpc' ? terms.pricePerClickMicros : micros(0)
