/** Random histories of merchants’ money, and some that chance rarely creates. */
import { MODEL } from '../../src/events/event.ts'
import { REASON } from '../../src/events/reason.ts'
import fc from './fast-check.ts'

const CLICKS = ['a', 'b', 'c', 'd'] as const

const clickArbitrary = fc.record({
  kind: fc.constant('click'),
  name: fc.constantFrom(...CLICKS),
  world: fc.constantFrom(0, 1),
  campaign: fc.constantFrom(0, 1, null), // The merchant's first campaign, its second, or none.
  terms: fc.constantFrom(
    { model: MODEL.cpc, termsAmount: 399_999, reservedMicros: 399_999 },
    { model: MODEL.cpa, termsAmount: 81_234 },
    { model: MODEL.epp, termsAmount: 1_500_001 },
  ),
  sharePpm: fc.constantFrom(750_000, 333_333),
  reason: fc.constantFrom(REASON.ok, REASON.ok, REASON.ok, REASON.unfunded, REASON.robot),
  visitor: fc.constantFrom(null, 'v1', 'v2'),
  result: fc.constantFrom('r1', 'r2', 'r3', 'r4'),
  isElsewhere: fc.constantFrom(false, false, true), // At another merchant.
})
const viewArbitrary = fc.record({
  kind: fc.constant('view'),
  name: fc.constantFrom(...CLICKS), // The click that the page session belongs to.
  reason: fc.constantFrom(REASON.ok, REASON.ok, REASON.robot),
})
const linesArbitrary = fc.array(
  fc.tuple(
    fc.constantFrom('A1', 'B 1', 'ö/%'),
    fc.integer({ min: 0, max: 5000 }),
    fc.integer({ min: 1, max: 4 }),
  ),
  { maxLength: 4 },
)
const orderArbitrary = fc.record({
  kind: fc.constant('order'),
  id: fc.constantFrom('o1', 'o 2'),
  source: fc.constantFrom('pixel', 'import', 's2s'),
  exact: fc.option(fc.constantFrom(...CLICKS)),
  remembered: fc.option(fc.constantFrom(...CLICKS)),
  paysForSeen: fc.boolean(),
  isDatedByDay: fc.constantFrom(false, false, true), // Reported with a plain date.
  valueMicros: fc.option(fc.constantFrom(0, 10_000, 550_000_000, 123_456_789)),
  updatedHours: fc.integer({ min: -2, max: 2 }),
  lines: linesArbitrary,
  isCancelled: fc.constantFrom(false, false, false, true),
  isTest: fc.constantFrom(false, false, false, false, true),
  isNet: fc.constantFrom(false, false, true), // its value is reported after returns
  currency: fc.constantFrom('USD', 'USD', 'USD', 'EUR'),
  isHeld: fc.constantFrom(false, false, true),
  isElsewhere: fc.constantFrom(false, false, true), // Of another merchant, with the same id.
})
const returnArbitrary = fc.record({
  kind: fc.constant('return'),
  id: fc.constantFrom('o1', 'o 2'),
  returnId: fc.constantFrom('r1', 'r2', 'r3'),
  product: fc.constantFrom('A1', 'B 1', 'ö/%', null),
  line: fc.constantFrom(null, null, 0, 1),
  quantity: fc.integer({ min: 1, max: 3 }),
  amount: fc.option(fc.constantFrom('0.01', '33.33', '100', '214.28', '246.91', '550.00', '0.005')),
  currency: fc.constantFrom(null, 'USD', 'EUR'),
})
const decisionArbitrary = fc.record({
  kind: fc.constant('decision'),
  id: fc.constantFrom('o1', 'o 2'),
  decision: fc.constantFrom({ kind: 'approve' }, { kind: 'reject', reason: 'fraud' }),
})
const reversalArbitrary = fc.record({
  kind: fc.constant('reversal'),
  name: fc.constantFrom(...CLICKS),
})
const paymentArbitrary = fc.record({
  kind: fc.constant('payment'),
  reference: fc.constantFrom('p1', 'p2'),
  micros: fc.integer({ min: 1, max: 60_000_000 }),
})
const paymentReversalArbitrary = fc.record({
  kind: fc.constant('paymentReversal'),
  reference: fc.constantFrom('p1', 'p2'),
})
export type Step =
  | Item<typeof clickArbitrary>
  | Item<typeof orderArbitrary>
  | Item<typeof viewArbitrary>
  | Item<typeof returnArbitrary>
  | Item<typeof decisionArbitrary>
  | Item<typeof reversalArbitrary>
  | Item<typeof paymentArbitrary>
  | Item<typeof paymentReversalArbitrary>
/** The type of an arbitrary's values. */
type Item<A> = A extends fc.Arbitrary<infer T> ? T : never

export type History = readonly { readonly afterHours: number; readonly step: Step }[]

export const historyArbitrary = fc.array(
  fc.record({
    afterHours: fc.constantFrom(0, 0, 0.2, 1, 30, 2000),
    step: fc.oneof(
      { arbitrary: clickArbitrary, weight: 5 },
      { arbitrary: orderArbitrary, weight: 5 },
      { arbitrary: viewArbitrary, weight: 3 },
      { arbitrary: returnArbitrary, weight: 3 },
      { arbitrary: decisionArbitrary, weight: 1 },
      { arbitrary: reversalArbitrary, weight: 1 },
      { arbitrary: paymentArbitrary, weight: 1 },
      { arbitrary: paymentReversalArbitrary, weight: 1 },
    ) as fc.Arbitrary<Step>,
  }),
  { minLength: 4, maxLength: 30 },
)

const CLICK_A = {
  ...{ kind: 'click', name: 'a', world: 0, campaign: 0, isElsewhere: false },
  terms: { model: MODEL.cpa, termsAmount: 81_234 },
  ...{ sharePpm: 750_000, reason: REASON.ok, visitor: null, result: 'r1' },
} satisfies Step

/** A reader clicks another shop's link, sees this one's, and buys there: rare by chance. */
const SEEN_ONLY: History = [
  { afterHours: 0, step: { ...CLICK_A, isElsewhere: true } },
  { afterHours: 0.2, step: { kind: 'view', name: 'a', reason: REASON.ok } },
  {
    afterHours: 1,
    step: {
      ...{ kind: 'order', id: 'o1', source: 's2s', exact: null, remembered: 'a', lines: [] },
      ...{ paysForSeen: true, valueMicros: 550_000_000, updatedHours: 0 },
      ...{ isDatedByDay: false, isCancelled: false, isHeld: false, isElsewhere: false },
      ...{ isTest: false, isNet: false, currency: 'USD' },
    },
  },
]

const WAITING_ORDER = {
  ...{ kind: 'order', id: 'o1', source: 's2s', exact: null, remembered: null, lines: [] },
  ...{ paysForSeen: false, isDatedByDay: false, updatedHours: 0 },
  ...{ isCancelled: false, isHeld: false, isElsewhere: false },
  ...{ isTest: false, isNet: false, currency: 'USD' },
} satisfies Partial<Step>

const BASKET: Item<typeof linesArbitrary> = [
  ['A1', 1000, 1],
  ['B 1', 3000, 2],
]

/** An order that only the merchant's tag connects to a click: some runs have none. */
const REMEMBERED: History = [
  { afterHours: 0, step: CLICK_A },
  { afterHours: 1, step: { ...WAITING_ORDER, remembered: 'a', valueMicros: 550_000_000 } },
]

/** Orders with a plain date: their clicks are after its midnight. */
function datedByDay(history: History): History {
  return history.map(({ step, afterHours }) => ({
    step: step.kind === 'order' ? { ...step, isDatedByDay: true } : step,
    afterHours,
  }))
}

/**
 * A visitor known by one click buys in two shops with the same order number; the click is reversed.
 */
const SAME_NUMBER: History = [
  ...SEEN_ONLY,
  {
    afterHours: 0,
    step: { ...WAITING_ORDER, isElsewhere: true, exact: 'a', valueMicros: 550_000_000 },
  },
  { afterHours: 1, step: { kind: 'reversal', name: 'a' } },
]

const WAITED_FOR_NOBODY: History = [
  { afterHours: 0, step: { ...WAITING_ORDER, valueMicros: null } },
  { afterHours: 1, step: { ...WAITING_ORDER, valueMicros: 10_000 } },
  {
    afterHours: 1,
    step: { kind: 'decision', id: 'o1', decision: { kind: 'reject', reason: 'fraud' } },
  },
]

/**
 * Paid per purchase and so locked at once: a revision in a currency without a rate, then one with a
 * rate.
 */
const HELD_WHEN_LOCKED: History = [
  { afterHours: 0, step: { ...CLICK_A, terms: { model: MODEL.epp, termsAmount: 1_500_001 } } },
  { afterHours: 1, step: { ...WAITING_ORDER, exact: 'a', valueMicros: 123_456_789 } },
  { afterHours: 30, step: { kind: 'payment', reference: 'p1', micros: 1_500_001 } },
  { afterHours: 1, step: { ...WAITING_ORDER, valueMicros: null } },
  {
    afterHours: 1,
    step: {
      ...{ kind: 'return', id: 'o1', returnId: 'r1' },
      ...{ product: null, line: 0, quantity: 1, amount: null, currency: null },
    },
  },
]
const RELEASED_WHEN_LOCKED: History = [
  ...HELD_WHEN_LOCKED,
  { afterHours: 2000, step: { ...WAITING_ORDER, valueMicros: 10_000 } },
]

/** The merchant cancels, the click is found invalid, and the order is reported again. */
const CANCELLED_AND_REVERSED: History = [
  { afterHours: 0, step: CLICK_A },
  { afterHours: 1, step: { ...WAITING_ORDER, exact: 'a', valueMicros: 550_000_000 } },
  { afterHours: 1, step: { ...WAITING_ORDER, isCancelled: true, valueMicros: 550_000_000 } },
  { afterHours: 1, step: { kind: 'reversal', name: 'a' } },
  { afterHours: 1, step: { ...WAITING_ORDER, valueMicros: 550_000_000 } },
]

/**
 * Goods are returned, and the order is reported again by its value alone; an older report arrives
 * late.
 */
const REPORTED_BY_VALUE: History = [
  { afterHours: 0, step: CLICK_A },
  {
    afterHours: 0,
    step: { ...WAITING_ORDER, exact: 'a', valueMicros: 550_000_000, lines: BASKET },
  },
  {
    afterHours: 1,
    step: {
      ...{ kind: 'return', id: 'o1', returnId: 'r1' },
      ...{ product: 'A1', line: null, quantity: 1, amount: null, currency: null },
    },
  },
  { afterHours: 1, step: { ...WAITING_ORDER, valueMicros: 123_456_789 } },
  {
    afterHours: 1,
    step: { ...WAITING_ORDER, valueMicros: 10_000, updatedHours: -2, lines: BASKET.toReversed() },
  },
  { afterHours: 0, step: { ...WAITING_ORDER, valueMicros: 10_000, updatedHours: -2 } },
]

/** Amounts may no longer change, except those of a held report. */
const HELD_FOR_LONG: History = [
  { afterHours: 0, step: CLICK_A },
  { afterHours: 1, step: { ...WAITING_ORDER, exact: 'a', valueMicros: null } },
  { afterHours: 3000, step: { ...WAITING_ORDER, valueMicros: 550_000_000 } },
]

/** Prepaid, and in the log when its month has its statement. */
const PAID_CLICK = {
  ...CLICK_A,
  terms: { model: MODEL.cpc, termsAmount: 399_999, reservedMicros: 399_999 },
} satisfies Step
const REPORTED_LATE: History = [
  { afterHours: 0, step: PAID_CLICK },
  { afterHours: 1, step: { kind: 'payment', reference: 'p1', micros: 60_000_000 } },
  { afterHours: 0, step: { ...PAID_CLICK, name: 'b', result: 'r2' } },
]

/** Its payment bounced; the next payment covers that before the later click. */
const REVERSED_LATE: History = [
  { afterHours: 0, step: PAID_CLICK },
  { afterHours: 30, step: { kind: 'payment', reference: 'p1', micros: 60_000_000 } },
  { afterHours: 1, step: { kind: 'paymentReversal', reference: 'p1' } },
  { afterHours: 1, step: { kind: 'paymentReversal', reference: 'p1' } },
  { afterHours: 30, step: { ...PAID_CLICK, name: 'b', result: 'r2' } },
  { afterHours: 30, step: { kind: 'payment', reference: 'p2', micros: 60_000_000 } },
]

const BASKET_ORDER = {
  ...{ ...WAITING_ORDER, valueMicros: 550_000_000, lines: BASKET },
} satisfies Partial<Step>

/** Half of what two publishers sold is returned, unpaid or partly paid; so is a click. */
const BACK_UNPAID: History = [
  { afterHours: 0, step: CLICK_A },
  { afterHours: 0, step: { ...CLICK_A, name: 'b', world: 1, result: 'r2' } },
  { afterHours: 0, step: { ...PAID_CLICK, name: 'c', result: 'r3' } },
  { afterHours: 1, step: { ...BASKET_ORDER, exact: 'a' } },
  { afterHours: 1, step: { ...BASKET_ORDER, id: 'o 2', exact: 'b' } },
  { afterHours: 2200, step: goodsBack('o 2', 'r1', 'A1') },
  { afterHours: 1, step: { kind: 'reversal', name: 'c' } },
  { afterHours: 30, step: { kind: 'payment', reference: 'p1', micros: 45_000_000 } },
  { afterHours: 1, step: goodsBack('o 2', 'r2', 'B 1') },
  { afterHours: 1, step: goodsBack('o1', 'r3', 'B 1') },
  { afterHours: 30, step: { kind: 'payment', reference: 'p2', micros: 60_000_000 } },
]

function goodsBack(id: 'o1' | 'o 2', returnId: 'r1' | 'r2' | 'r3', product: 'A1' | 'B 1'): Step {
  return {
    ...{ kind: 'return', id, returnId, product, line: null, quantity: 1 },
    ...{ amount: null, currency: null },
  }
}

const REFUND = {
  ...{ kind: 'return', id: 'o1', product: null, line: null, quantity: 1, currency: null },
} satisfies Partial<Step>

/** A part is refunded, then reported as a net value; more is refunded before and after the lock. */
const REFUNDED_AND_NET: History = [
  { afterHours: 0, step: CLICK_A },
  { afterHours: 1, step: { ...BASKET_ORDER, exact: 'a' } },
  { afterHours: 1, step: { ...REFUND, returnId: 'r1', amount: '246.91' } },
  { afterHours: 1, step: { ...BASKET_ORDER, lines: [], valueMicros: 123_456_789, isNet: true } },
  { afterHours: 1, step: goodsBack('o1', 'r2', 'B 1') },
  { afterHours: 2200, step: { ...REFUND, returnId: 'r3', amount: '33.33' } },
  { afterHours: 30, step: { kind: 'payment', reference: 'p1', micros: 60_000_000 } },
]

/** Units and amounts of one line and of the whole order, to the last cent. */
const REFUNDED_WHOLE: History = [
  { afterHours: 0, step: CLICK_A },
  { afterHours: 1, step: { ...BASKET_ORDER, exact: 'a' } },
  { afterHours: 1, step: { ...REFUND, returnId: 'r1', amount: '100' } },
  { afterHours: 1, step: goodsBack('o1', 'r2', 'B 1') },
  { afterHours: 2200, step: { ...REFUND, returnId: 'r3', amount: '214.28' } },
  { afterHours: 30, step: { kind: 'payment', reference: 'p1', micros: 60_000_000 } },
]

/** A browser reports other goods than a person has approved. */
const DOUBTFUL_ORDER = { ...BASKET_ORDER, source: 'pixel', isHeld: true } satisfies Partial<Step>
const APPROVED_AND_CHANGED: History = [
  { afterHours: 0, step: CLICK_A },
  { afterHours: 1, step: { ...DOUBTFUL_ORDER, remembered: 'a' } },
  { afterHours: 1, step: { kind: 'decision', id: 'o1', decision: { kind: 'approve' } } },
  { afterHours: 1, step: { ...DOUBTFUL_ORDER, lines: BASKET.slice(1) } },
]

/** A purchase that pays at once; its first report is a cancellation. */
const NEVER_BOUGHT: History = [
  { afterHours: 0, step: { ...CLICK_A, terms: { model: MODEL.epp, termsAmount: 1_500_001 } } },
  { afterHours: 1, step: { ...BASKET_ORDER, exact: 'a', isCancelled: true } },
  { afterHours: 1, step: { ...BASKET_ORDER, source: 'pixel', remembered: 'a' } },
]

const CANCELLED_BEFORE_ITS_CLICK: History = NEVER_BOUGHT.map(({ step, afterHours }) => ({
  step: step.kind === 'order' ? { ...step, exact: null } : step,
  afterHours,
}))

/** The tag knows a paid click, then the server names one of another publisher. */
const GUESSED_FIRST: History = [
  { afterHours: 0, step: CLICK_A },
  { afterHours: 0, step: { ...PAID_CLICK, name: 'b', world: 1, result: 'r2' } },
  { afterHours: 1, step: { ...BASKET_ORDER, source: 'pixel', remembered: 'b' } },
  { afterHours: 1, step: { ...BASKET_ORDER, exact: 'a' } },
]

/** Each with the number of its events that precede the first statements. */
export const RARE_HISTORIES: [History, number][] = [
  [SEEN_ONLY, 30],
  [REMEMBERED, 30],
  [datedByDay(SEEN_ONLY), 30],
  [datedByDay(REMEMBERED), 30],
  [SAME_NUMBER, 30],
  [WAITED_FOR_NOBODY, 30],
  [HELD_WHEN_LOCKED, 30],
  [RELEASED_WHEN_LOCKED, 30],
  [CANCELLED_AND_REVERSED, 30],
  [REPORTED_BY_VALUE, 30],
  [HELD_FOR_LONG, 30],
  [REPORTED_LATE, 2],
  [REVERSED_LATE, 3],
  [BACK_UNPAID, 30],
  [BACK_UNPAID, 7],
  [APPROVED_AND_CHANGED, 30],
  [NEVER_BOUGHT, 30],
  [CANCELLED_BEFORE_ITS_CLICK, 30],
  [GUESSED_FIRST, 30],
  [REFUNDED_AND_NET, 30],
  [REFUNDED_AND_NET, 4],
  [REFUNDED_WHOLE, 30],
]
