import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeReports, type OrderReport, type Reports, withReport } from './order-merge.ts'

const NOW_MS = Date.UTC(2026, 2, 2, 12)

function report(changes: Partial<OrderReport>): OrderReport {
  return {
    ...{ source: 's2s', event_id: '5', updated_at_ms: NOW_MS, ordered_at_ms: NOW_MS },
    ...{ currency: 'USD', value: '10.00', value_micros: 10_000_000, rate_id: 'usd', lines: [] },
    ...{ is_new_customer: null, is_cancelled: false, hold: null },
    ...changes,
  }
}

/** The merged order after these reports in this order. */
const believed = (...sent: OrderReport[]) =>
  mergeReports(sent.reduce<Reports>((reports, one) => withReport(reports, one), {}))

test('the report of a source with the latest update counts, and of equal ones the later event', () => {
  const later = report({ event_id: '1', updated_at_ms: NOW_MS + 1, value: '20.00' })
  const earlier = report({ event_id: '9', value: '30.00' })
  assert.equal(believed(later, earlier).value, '20.00')
  assert.equal(believed(earlier, later).value, '20.00')
  // As numbers: event '10' is later than event '9'.
  const next = report({ event_id: '10', value: '40.00' })
  assert.equal(believed(earlier, next).value, '40.00')
  assert.equal(believed(next, earlier).value, '40.00')
})

test('the most trusted source gives the amount, and the next one fills its gaps', () => {
  const product = { name: 'Socks', brand: null, price: '10.00', quantity: 1 }
  const pixel = report({
    ...{ source: 'pixel', value: '99.00', value_micros: 99_000_000 },
    lines: [{ ...product, product_id: 'A', price_minor: '1000' }],
  })
  const bare = believed(pixel, report({ source: 'import' }))
  assert.deepEqual([bare.source, bare.value], ['import', '10.00'])
  const believedLine = {
    ...{ ...product, productId: 'A', weight: 1000n },
    ...{ revenueMicros: 10_000_000, valueMinor: 1000n },
  }
  assert.deepEqual(bare.lines, [believedLine])
  assert.equal(believed(report({}), pixel).source, 's2s')
})

test('ignores the price of a product in another currency than the order’s', () => {
  const product = { name: null, brand: null, quantity: 1 }
  const lines = [
    { ...product, product_id: 'A', price: '60.00', price_minor: '6000' },
    { ...product, product_id: 'B', price: '30.00', price_minor: '3000' },
  ]
  const inEuros = report({ source: 'pixel', currency: 'EUR', value: '90.00', lines })
  const inDollars = report({ value: '99.00', value_micros: 99_000_000 })
  assert.deepEqual(
    believed(inEuros, inDollars).lines.map(({ price, revenueMicros }) => [price, revenueMicros]),
    [
      [null, 66_000_000],
      [null, 33_000_000],
    ],
  )
  assert.deepEqual(
    believed({ ...inEuros, currency: 'USD' }, inDollars).lines.map(({ price }) => price),
    ['60.00', '30.00'],
  )
})

test('an order without products is one line of one unit', () => {
  const { lines } = believed(report({}))
  assert.deepEqual(
    lines.map(({ productId, quantity, revenueMicros }) => [productId, quantity, revenueMicros]),
    [[null, 1, 10_000_000]],
  )
})

test('a report without products keeps those of its source’s earlier report, in any order', () => {
  const product = { name: 'Socks', brand: null, price: '10.00', price_minor: '1000', quantity: 1 }
  const of = (id: string, at: number, ids: readonly string[], value = '10.00') =>
    report({
      ...{ event_id: id, updated_at_ms: NOW_MS + at, value, value_micros: Number(value) * 1e6 },
      lines: ids.map((product_id) => ({ ...product, product_id })),
    })
  const [old, listed, bare] = [of('1', 0, ['A']), of('2', 1, ['B', 'C']), of('3', 2, [], '20.00')]
  const later = of('4', 3, [])
  for (const sent of [
    [old, listed, bare, later],
    [bare, old, listed, later, bare],
    [later, listed, bare, old],
    [listed, later, old, bare, listed],
  ]) {
    const { value, lines } = believed(...sent)
    assert.equal(value, '10.00')
    assert.deepEqual(
      lines.map(({ productId }) => productId),
      ['B', 'C'],
    )
  }
  // The amount is that of the latest report, divided as between sources. A list replaces a list.
  assert.deepEqual(
    believed(listed, bare).lines.map(({ revenueMicros }) => revenueMicros),
    [10_000_000, 10_000_000],
  )
  assert.equal(believed(bare, listed, of('5', 4, ['D'])).lines[0]?.productId, 'D')
  const sure = believed(report({ ...listed, source: 'import' }), old, bare)
  assert.equal(sure.lines[0]?.productId, 'A', 'a surer source is believed first')
})
