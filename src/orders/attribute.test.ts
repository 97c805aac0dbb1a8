import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { REASON } from '../events/reason.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import {
  type AttributionPolicy,
  attribute,
  IMPRESSION_WINDOW_MS,
  type OrderFacts,
  type SeenLink,
  type Touch,
} from './attribute.ts'

const NOW_MS = Date.UTC(2026, 2, 2, 12)
const policy: AttributionPolicy = { windowDays: 30, isPostImpression: false }
const order: OrderFacts = {
  merchId: 3,
  orderedAtMs: NOW_MS,
  touchesUntilMs: NOW_MS,
  exactClickId: null,
  rememberedClickIds: [],
}

function click(clickId: string, ageMs: number, changes: Partial<Touch> = {}): Touch {
  return { clickId, atMs: NOW_MS - ageMs, merchId: 3, reason: REASON.ok, ...changes }
}

function remembered(touches: readonly Touch[], changes: Partial<OrderFacts> = {}) {
  const rememberedClickIds = touches.map(({ clickId }) => clickId)
  return attribute({ ...order, rememberedClickIds, ...changes }, touches, policy)
}

const touchArbitrary = fc.record({
  clickId: fc.integer({ min: 0, max: 40 }).map((n) => n.toString(16).padStart(32, '0')),
  atMs: fc.integer({ min: -40 * DAY_MS, max: DAY_MS }).map((ms) => NOW_MS + ms),
  merchId: fc.constantFrom(3, 3, 3, 4),
  reason: fc.constantFrom(REASON.ok, REASON.ok, REASON.robot, REASON.duplicateVisitor),
})
const touchesArbitrary = fc.uniqueArray(touchArbitrary, {
  selector: ({ clickId }) => clickId,
  maxLength: 12,
})

test('the click that the merchant names wins over later ones that its tag remembers', () => {
  const [named, later] = [click('a', 5 * DAY_MS), click('b', DAY_MS)]
  const result = remembered([named, later], { exactClickId: 'a' })
  assert.deepEqual(result.attribution, { model: 'exact', touchId: 'a' })
  assert.deepEqual(
    result.evidence.map(({ id, verdict }) => [id, verdict]),
    [
      ['a', 'won'],
      ['b', 'not_named'],
    ],
  )
})

test('the latest remembered click wins, and the evidence explains why the others did not', () => {
  const touches = [
    click('a', 31 * DAY_MS),
    click('b', 2 * DAY_MS),
    click('c', DAY_MS),
    click('d', -1),
    click('e', 1, { merchId: 4 }),
    click('f', 1, { reason: REASON.robot }),
  ]
  const rememberedClickIds = [...touches.map(({ clickId }) => clickId), 'unknown']
  const result = attribute({ ...order, rememberedClickIds }, touches, policy)

  assert.deepEqual(result.attribution, { model: 'visitor', touchId: 'c' })
  assert.deepEqual(
    result.evidence.map(({ verdict }) => verdict),
    [
      'outside_window',
      'older_than_winner',
      'won',
      'after_order',
      'other_merchant',
      'invalid_click',
      'unknown_click',
    ],
  )
})

test('a click at exactly the end of the window counts, and one a millisecond older does not (P45)', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 90 }), (windowDays) => {
      for (const [ageMs, counts] of [
        [windowDays * DAY_MS, true],
        [windowDays * DAY_MS + 1, false],
        [0, true],
        [-1, false],
      ] as const) {
        const facts = { ...order, rememberedClickIds: ['a'] }
        const { attribution } = attribute(facts, [click('a', ageMs)], { ...policy, windowDays })
        assert.equal(attribution !== null, counts, `${ageMs} ms`)
      }
    }),
  )
})

test('a click that the merchant names gets its order, whatever the clock of its timestamp', () => {
  const late = click('a', 1 - DAY_MS)
  const named = attribute({ ...order, exactClickId: 'a' }, [late], policy)
  assert.deepEqual(named.attribution, { model: 'exact', touchId: 'a' })
  assert.deepEqual(named.evidence, [{ id: 'a', at_ms: late.atMs, verdict: 'won' }])
  const { attribution, evidence } = remembered([late])
  assert.equal(attribution, null, 'a guess needs the order of events')
  assert.equal(evidence[0]?.verdict, 'after_order')
})

test('an order with only a day may belong to every click and view of that day', () => {
  const dated = { ...order, touchesUntilMs: NOW_MS + DAY_MS - 1, rememberedClickIds: ['a'] }
  const allowed = { ...policy, isPostImpression: true }
  for (const [atMs, counts] of [
    [dated.touchesUntilMs, true],
    [dated.touchesUntilMs + 1, false],
  ] as const) {
    const own = attribute(dated, [click('a', NOW_MS - atMs)], policy)
    assert.equal(own.attribution !== null, counts)
    const link = { impressionId: '1', atMs, merchId: 3, clickId: 'a' }
    const seen = attribute(dated, [click('a', 0, { merchId: 4 })], allowed, [link])
    assert.equal(seen.attribution !== null, counts)
  }
})

test('a valid but unpaid click can get an order, and an invalid one never can', () => {
  const honest = ['ok', 'unfunded', 'spooledLate', 'duplicateResult', 'duplicateVisitor']
  const leading = new Set([...honest, 'visitorLimit', 'scanner', 'addressLimit'])
  for (const [name, reason] of Object.entries(REASON)) {
    const touch = click('a', DAY_MS, { reason })
    const { attribution, evidence } = remembered([touch])
    const exact = attribute({ ...order, exactClickId: 'a' }, [touch], policy)
    assert.equal(attribution !== null, leading.has(name), name)
    assert.equal(exact.attribution !== null, leading.has(name), name)
    assert.equal(evidence[0]?.verdict, leading.has(name) ? 'won' : 'invalid_click', name)
  }
})

test('adding an older click never changes the winner (P46)', () => {
  fc.assert(
    fc.property(touchesArbitrary, fc.integer({ min: 1, max: 50 * DAY_MS }), (touches, olderMs) => {
      const before = remembered(touches).attribution
      fc.pre(before !== null)
      const winner = touches.find(({ clickId }) => clickId === before?.touchId)
      const older = { ...click('ff', 0), atMs: (winner?.atMs ?? 0) - olderMs }
      assert.deepEqual(remembered([...touches, older]).attribution, before)
    }),
  )
})

test('the order of clicks and the absolute time never change the result', () => {
  const permuted = touchesArbitrary.chain((touches) =>
    fc.tuple(
      fc.constant(touches),
      fc.shuffledSubarray(touches, { minLength: touches.length }),
      fc.integer({ min: -1000 * DAY_MS, max: 1000 * DAY_MS }),
    ),
  )
  fc.assert(
    fc.property(permuted, ([touches, shuffled, shiftMs]) => {
      const before = remembered(touches).attribution
      const moved = shuffled.map((touch) => ({ ...touch, atMs: touch.atMs + shiftMs }))
      const movedMs = NOW_MS + shiftMs
      const times = { orderedAtMs: movedMs, touchesUntilMs: movedMs }
      const after = remembered(moved, times).attribution
      assert.deepEqual(after, before) // P44
    }),
  )
})

test('the winner is a click of this merchant, honest, and in the window', () => {
  fc.assert(
    fc.property(touchesArbitrary, (touches) => {
      const { attribution } = remembered(touches)
      if (attribution === null) return
      const winner = touches.find(({ clickId }) => clickId === attribution.touchId)
      assert.ok(winner)
      assert.equal(winner.merchId, 3)
      assert.notEqual(winner.reason, REASON.robot)
      const ageMs = NOW_MS - winner.atMs
      assert.ok(ageMs >= 0 && ageMs <= 30 * DAY_MS)
    }),
  )
})

test('of clicks in one millisecond the higher id wins, also if one is the named click', () => {
  const [low, high] = [click('a9', 0), click('b0', 0)]
  for (const touches of [
    [low, high],
    [high, low],
  ]) {
    const { attribution, evidence } = remembered(touches)
    assert.deepEqual(attribution, { model: 'visitor', touchId: 'b0' })
    const verdicts = new Map(evidence.map(({ id, verdict }) => [id, verdict]))
    assert.deepEqual([verdicts.get('b0'), verdicts.get('a9')], ['won', 'older_than_winner'])
  }
})

test('a double click gets the sale, although its second click was not paid', () => {
  const twice = click('b', 1000, { reason: REASON.duplicateVisitor })
  assert.equal(remembered([click('a', 2000), twice]).attribution?.touchId, 'b')
})

const allowed = { ...policy, isPostImpression: true }
const facts = { ...order, rememberedClickIds: ['a'] }
/** A click that identifies a reader who went to another shop. */
const elsewhere = click('a', 40 * DAY_MS, { merchId: 4 })

function seen(impressionId: string, ageMs: number, changes: Partial<SeenLink> = {}): SeenLink {
  return { impressionId, atMs: NOW_MS - ageMs, merchId: 3, clickId: 'a', ...changes }
}

test('an impression counts only if the merchant allows it, for a day, and after every click', () => {
  const links = [seen('1', 2000), seen('2', 1000), seen('3', 500, { merchId: 4 }), seen('4', -1)]
  assert.equal(attribute(facts, [elsewhere], policy, links).attribution, null)
  const found = attribute(facts, [elsewhere], allowed, links)
  assert.deepEqual(found.attribution, { model: 'impression', touchId: 'a' })
  assert.deepEqual(
    found.evidence.map(({ id, verdict }) => [id, verdict]),
    [
      ['a', 'other_merchant'],
      ['2', 'won'],
    ],
  )
  const clicked = attribute(facts, [click('a', 20 * DAY_MS)], allowed, links)
  assert.equal(clicked.attribution?.model, 'visitor')
  for (const [ageMs, counts] of [
    [IMPRESSION_WINDOW_MS, true],
    [IMPRESSION_WINDOW_MS + 1, false],
  ] as const) {
    const result = attribute(facts, [elsewhere], allowed, [seen('1', ageMs)])
    assert.equal(result.attribution !== null, counts)
  }
})

test('an impression needs an honest click of its session that the merchant’s tag remembers', () => {
  const links = [seen('1', 1000)]
  for (const touches of [
    [],
    [click('a', 2000, { reason: REASON.robot })],
    [click('a', 2000, { reason: REASON.reversed })],
    [click('a', -1, { merchId: 4 })],
  ]) {
    assert.equal(attribute(facts, touches, allowed, links).attribution, null)
  }
  assert.equal(attribute(order, [elsewhere], allowed, links).attribution, null, 'not remembered')
})

test('of impressions at one moment the higher id wins, and of its clicks the higher one', () => {
  const other = click('b', 0, { merchId: 4 }) // made at the very moment of the order
  const both = { ...order, rememberedClickIds: ['a', 'b'] }
  const winner = (...links: SeenLink[]) => {
    const { attribution, evidence } = attribute(both, [elsewhere, other], allowed, links)
    return [evidence.at(-1)?.id, attribution?.touchId]
  }
  const [low, high] = [seen('9', 0, { clickId: 'b' }), seen('10', 0)]
  assert.deepEqual(winner(low, high), ['10', 'a'])
  assert.deepEqual(winner(high, low), ['10', 'a'])
  assert.deepEqual(winner(seen('11', 1), low), ['9', 'b'], 'a later one beats a higher id')
  const twice = [high, seen('10', 0, { clickId: 'b' })]
  assert.deepEqual(winner(...twice), ['10', 'b'])
  assert.deepEqual(winner(...twice.toReversed()), ['10', 'b'])
})

const seenArbitrary = fc.array(
  fc.record({
    impressionId: fc.integer({ min: 1, max: 30 }).map(String),
    atMs: fc.integer({ min: -2 * DAY_MS, max: DAY_MS }).map((ms) => NOW_MS + ms),
    merchId: fc.constantFrom(3, 3, 4),
    clickId: fc.integer({ min: 0, max: 40 }).map((n) => n.toString(16).padStart(32, '0')),
  }),
  { maxLength: 8 },
)

test('with impressions too, order and time do not matter, a click comes first, and one touch wins', () => {
  fc.assert(
    fc.property(touchesArbitrary, seenArbitrary, fc.integer(), (touches, links, shiftMs) => {
      const wanted = { ...order, rememberedClickIds: touches.map(({ clickId }) => clickId) }
      const found = attribute(wanted, touches, allowed, links)
      const byClick = attribute(wanted, touches, policy)
      if (byClick.attribution !== null) assert.deepEqual(found, byClick)
      assert.ok(found.evidence.filter(({ verdict }) => verdict === 'won').length <= 1)
      const reversed = attribute(wanted, touches.toReversed(), allowed, links.toReversed())
      assert.deepEqual(reversed.attribution, found.attribution)
      const later = <T extends { atMs: number }>(item: T) => ({
        ...item,
        atMs: item.atMs + shiftMs,
      })
      const shifted = attribute(
        { ...wanted, orderedAtMs: NOW_MS + shiftMs, touchesUntilMs: NOW_MS + shiftMs },
        touches.map(later),
        allowed,
        links.map(later),
      )
      assert.deepEqual(shifted.attribution, found.attribution)
      if (found.attribution?.model !== 'impression') return
      const older = links.filter(({ atMs }) => atMs < NOW_MS - IMPRESSION_WINDOW_MS)
      const without = links.filter((link) => !older.includes(link))
      assert.deepEqual(
        attribute(wanted, touches, allowed, without).attribution,
        found.attribution,
        'an older impression never changes the winner',
      )
    }),
  )
})
