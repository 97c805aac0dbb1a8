import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMinor } from '../src/orders/currency.ts'
import { ISO_4217 } from '../src/platform/money/iso4217.ts'
import { findChanges, type OrderInput, readCheckout } from './checkout.ts'

const ORDER = { id: 'A', value: '10.00', currency: 'USD' }
const KEPT = ['k'.repeat(32)]

const read = (input: OrderInput) => readCheckout(input, KEPT)
const product = (fields: object) => read({ ...ORDER, products: [{ ...fields }] }).products[0]

test('an order is taken with its fields beside its products or inside of `order`', () => {
  const products = [{ id: 'p', price: '5.00', quantity: 2 }]
  const expected = { ...ORDER, click_ids: KEPT, is_new_customer: null }
  for (const input of [
    { ...ORDER, products },
    { order: ORDER, products },
  ]) {
    assert.deepEqual(read(input), { order: expected, products })
  }
  for (const none of [{}, { products: null }, { products: [] }]) {
    assert.deepEqual(read({ ...ORDER, ...none }), { order: expected, products: [] })
  }
})

test('an order without its id, value or currency is told which; a value of nothing is one', () => {
  for (const name of ['id', 'value', 'currency']) {
    for (const empty of [null, undefined, '']) {
      assert.throws(
        () => read({ order: { ...ORDER, [name]: empty } }),
        (told) => told === `order.${name} is missing`,
      )
    }
  }
  assert.equal(read({ ...ORDER, value: 0 }).order.value, '0.00')
})

test('ids become text, currencies capital, and numbers decimals without binary dust', () => {
  const { order } = read({ id: 7, value: 0.1 + 0.2, currency: 'usd' })
  assert.deepEqual([order.id, order.value, order.currency], ['7', '0.30', 'USD'])
  for (const [value, written] of [
    [1234.5, '1234.50'],
    [33.333333, '33.33'],
    ['99.996', '100.00'],
    [1e-7, '0.00'],
    ['1.50', '1.50'],
  ]) {
    assert.equal(read({ ...ORDER, value }).order.value, written)
    assert.equal(product({ id: 1, price: value })?.price, written)
  }
  assert.deepEqual(product({ id: 12, price: 1 }), { id: '12', price: '1.00', quantity: 1 })
})

test('amounts have as many decimals as shops print, and no more than the service takes', () => {
  for (const [currency, amount] of [
    ['USD', '1234.57'],
    ['JPY', '1235'],
    ['KWD', '1234.567'],
  ]) {
    assert.equal(read({ ...ORDER, value: 1234.5671, currency }).order.value, amount)
  }
  for (const [currency, decimals] of ISO_4217) {
    const { order, products } = read({ ...ORDER, value: 1 / 3, currency, products: [{ price: 9 }] })
    for (const amount of [order.value, products[0]?.price]) {
      const isTaken = parseMinor(`${amount}`, decimals ?? 2) !== null
      assert.ok(isTaken, `${amount} ${currency}`)
    }
  }
})

test('a currency that is none, or a value that is no amount, is left to the service', () => {
  assert.equal(read({ ...ORDER, currency: 'US$' }).order.currency, 'US$')
  assert.equal(read({ ...ORDER, value: '$12' }).order.value, 'NaN')
})

test('a product without a price costs nothing, and no order', () => {
  for (const price of [undefined, null, '', '$12', '1,50', -1, Number.NaN]) {
    assert.equal(product({ price })?.price, '0.00')
  }
})

test('a product has the currency of its order, whatever it says', () => {
  for (const currency of ['usd', 'EUR', '', null]) {
    const told = product({ id: 'p', price: '1.00', currency })
    assert.deepEqual(told, { id: 'p', price: '1.00', quantity: 1 })
  }
})

test('click ids that the shop names, as a list or with commas, stand for the remembered ones', () => {
  const idsOf = (named: object) => read({ ...ORDER, ...named }).order.click_ids
  assert.deepEqual(idsOf({}), KEPT)
  assert.deepEqual(idsOf({ cids: '', click_ids: null }), KEPT)
  assert.deepEqual(idsOf({ cids: 'a,b' }), ['a', 'b'])
  assert.deepEqual(idsOf({ cids: 'a,b', click_ids: ['c'] }), ['c'])
  assert.deepEqual(idsOf({ click_ids: [] }), [])
})

test('whether a customer is new is true, false or not known', () => {
  const toldOf = (is_new_customer: unknown) => read({ ...ORDER, is_new_customer }).order
  const told = [true, false, 1, 'true', null, undefined].map((one) => toldOf(one).is_new_customer)
  assert.deepEqual(told, [true, false, null, null, null, null])
})

test('a text that only describes is cut to what the service takes; what is not there stays so', () => {
  const long = 'x'.repeat(3_000)
  const texts = { name: 255, brand: 100, image_url: 2048, size: 20, color: 20 }
  const told = product({
    id: 'p',
    price: '1',
    sku: long,
    ...Object.fromEntries(Object.keys(texts).map((name) => [name, long])),
  })
  for (const [name, length] of Object.entries(texts)) {
    assert.equal(told?.[name], 'x'.repeat(length), name)
  }
  assert.equal(told?.sku, long)
  const bare = product({ id: 'p', price: '1', name: null, size: 38 })
  assert.deepEqual([bare?.name, bare?.size, bare && 'brand' in bare], [null, '38', false])
})

test('a product goes by its id, else by its name, else by its place in the order', () => {
  const told = [
    { id: 0, name: 'n' },
    { id: '', name: 'Kettle' },
    { name: null },
    { id: 'x'.repeat(101) },
  ]
  const { products } = read({ ...ORDER, products: told })
  assert.deepEqual(
    products.map(({ id }) => id),
    ['0', 'Kettle', '3', 'x'.repeat(100)],
  )
})

test('a quantity is a whole number, at least one, also where it is a text', () => {
  const told = [undefined, '', null, 0, -2, 0.25, 'many', '3', 2, 1.5]
  assert.deepEqual(
    told.map((quantity) => product({ quantity })?.quantity),
    [1, 1, 1, 1, 1, 1, 1, 3, 2, 2],
  )
})

test('what is sent otherwise than it was told is said, and nothing of the rest', () => {
  const told = {
    ...{ id: 7, value: 99.999, currency: 'usd' },
    products: [
      { id: 'a', price: 0, quantity: '2', currency: 'usd' },
      { id: 'b', price: '1.5' },
      { id: '', name: 'Kettle', price: '$1', quantity: 1.5 },
      { price: null },
    ],
  }
  const changes = [
    'order.value: 99.999 is sent as 100.00',
    'products[2].id:  is sent as Kettle',
    'products[2].price: $1 is sent as 0.00',
    'products[2].quantity: 1.5 is sent as 2',
    'products[3].id: undefined is sent as 4',
    'products[3].price: null is sent as 0.00',
  ]
  const { products, ...order } = told
  for (const input of [told, { order, products }]) {
    assert.deepEqual(findChanges(input, read(input)), changes)
  }
  assert.deepEqual(findChanges(ORDER, read(ORDER)), [])
})
