import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMinor } from '../src/orders/currency.ts'
import { ISO_4217 } from '../src/platform/money/iso4217.ts'
import { findChanges, type OrderInput, readCheckout } from './checkout.ts'

const ORDER = { id: 'A', value: '10.00', currency: 'USD' }
const KEPT = ['k'.repeat(32)]

const read = (input: OrderInput) => readCheckout(input, KEPT)
const product = (fields: object) => read({ ...ORDER, products: [{ ...fields }] }).products[0]

test('accepts an order with its fields beside its products or inside of `order`', () => {
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

test('names the missing field of an order without id, value or currency; a value of 0 is valid', () => {
  for (const name of ['id', 'value', 'currency']) {
    for (const empty of [null, undefined, '']) {
      assert.throws(
        () => read({ order: { ...ORDER, [name]: empty } }),
        (given) => given === `order.${name} is missing`,
      )
    }
  }
  assert.equal(read({ ...ORDER, value: 0 }).order.value, '0.00')
})

test('converts ids to text, currencies to capitals, and numbers to short decimals', () => {
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

test('keeps as many decimals as shops print, and no more than the service accepts', () => {
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

test('leaves an invalid currency or value to the service', () => {
  assert.equal(read({ ...ORDER, currency: 'US$' }).order.currency, 'US$')
  assert.equal(read({ ...ORDER, value: '$12' }).order.value, 'NaN')
})

test('keeps an order when a product has no price', () => {
  for (const price of [undefined, null, '', '$12', '1,50', -1, Number.NaN]) {
    assert.equal(product({ price })?.price, '0.00')
  }
})

test('a product has the currency of its order, whatever it says', () => {
  for (const currency of ['usd', 'EUR', '', null]) {
    const given = product({ id: 'p', price: '1.00', currency })
    assert.deepEqual(given, { id: 'p', price: '1.00', quantity: 1 })
  }
})

test('uses click ids that the shop names, as a list or with commas, instead of the stored ones', () => {
  const idsOf = (named: object) => read({ ...ORDER, ...named }).order.click_ids
  assert.deepEqual(idsOf({}), KEPT)
  assert.deepEqual(idsOf({ cids: '', click_ids: null }), KEPT)
  assert.deepEqual(idsOf({ cids: 'a,b' }), ['a', 'b'])
  assert.deepEqual(idsOf({ cids: 'a,b', click_ids: ['c'] }), ['c'])
  assert.deepEqual(idsOf({ click_ids: [] }), [])
})

test('whether a customer is new is true, false or unknown', () => {
  const orderOf = (is_new_customer: unknown) => read({ ...ORDER, is_new_customer }).order
  const given = [true, false, 1, 'true', null, undefined].map((one) => orderOf(one).is_new_customer)
  assert.deepEqual(given, [true, false, null, null, null, null])
})

test('cuts descriptive texts to the service’s limits; missing ones stay missing', () => {
  const long = 'x'.repeat(3_000)
  const texts = { name: 255, brand: 100, image_url: 2048, size: 20, color: 20 }
  const given = product({
    id: 'p',
    price: '1',
    sku: long,
    ...Object.fromEntries(Object.keys(texts).map((name) => [name, long])),
  })
  for (const [name, length] of Object.entries(texts)) {
    assert.equal(given?.[name], 'x'.repeat(length), name)
  }
  assert.equal(given?.sku, long)
  const bare = product({ id: 'p', price: '1', name: null, size: 38 })
  assert.deepEqual([bare?.name, bare?.size, bare && 'brand' in bare], [null, '38', false])
})

test('identifies a product by its id, else its name, else its position in the order', () => {
  const given = [
    { id: 0, name: 'n' },
    { id: '', name: 'Kettle' },
    { name: null },
    { id: 'x'.repeat(101) },
  ]
  const { products } = read({ ...ORDER, products: given })
  assert.deepEqual(
    products.map(({ id }) => id),
    ['0', 'Kettle', '3', 'x'.repeat(100)],
  )
})

test('a quantity is a whole number, at least one, also when given as text', () => {
  const given = [undefined, '', null, 0, -2, 0.25, 'many', '3', 2, 1.5]
  assert.deepEqual(
    given.map((quantity) => product({ quantity })?.quantity),
    [1, 1, 1, 1, 1, 1, 1, 3, 2, 2],
  )
})

test('lists corrected values for test mode, and only those', () => {
  const given = {
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
  const { products, ...order } = given
  for (const input of [given, { order, products }]) {
    assert.deepEqual(findChanges(input, read(input)), changes)
  }
  assert.deepEqual(findChanges(ORDER, read(ORDER)), [])
})
