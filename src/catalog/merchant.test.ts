import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  MERCHANT_DEFAULTS,
  type MerchantSettings,
  merchantFaults,
  normalMerchant,
} from './merchant.ts'

const base: MerchantSettings = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: ['shop.example'] }
const fields = (changes: Partial<MerchantSettings>) =>
  merchantFaults({ ...base, ...changes }).map(({ field }) => field)

test('a merchant with a name and a domain needs nothing else', () => {
  assert.deepEqual(fields({}), [])
})

test('refuses a merchant without a domain', () => {
  assert.deepEqual(fields({ domains: [] }), ['domain'])
  assert.deepEqual(fields({ domains: ['co.uk'] }), ['domain'])
})

test('settings that could never work are refused, each by its own name', () => {
  assert.deepEqual(fields({ name: '' }), ['name'])
  for (const click_param of ['', 'a b', 'a&b', 'x'.repeat(65)]) {
    assert.deepEqual(fields({ click_param }), ['click_param'], click_param)
  }
  for (const window_days of [0, 91, 1.5, Number.NaN]) {
    assert.deepEqual(fields({ window_days }), ['window_days'], String(window_days))
  }
  for (const origin of [
    'shop.example',
    'https://shop.example/path',
    'javascript:1',
    'ftp://shop.example',
  ]) {
    assert.deepEqual(fields({ origins: [origin] }), ['origin'], origin)
  }
})

test('settings at the very ends of their ranges are accepted', () => {
  assert.equal(MERCHANT_DEFAULTS.window_days, 30)
  for (const window_days of [1, 90]) assert.deepEqual(fields({ window_days }), [])
  for (const click_param of ['s', 'x'.repeat(64)]) assert.deepEqual(fields({ click_param }), [])
  assert.deepEqual(fields({ name: 'x'.repeat(255) }), [])
  assert.deepEqual(fields({ name: 'x'.repeat(256) }), ['name'])
  for (const post_impression_rate_ppm of [null, 1, 1_000_000]) {
    assert.deepEqual(fields({ post_impression_rate_ppm }), [])
  }
  const rates = [0, 1_000_001, 1.5].map((rate) => fields({ post_impression_rate_ppm: rate }))
  assert.deepEqual(new Set(rates.map((faults) => faults.length)), new Set([1]))
  const many = (count: number) => Array.from({ length: count }, (_, at) => `s${at}.example`)
  assert.deepEqual(fields({ domains: many(1000) }), [])
  assert.deepEqual(fields({ domains: many(1001) }), ['domain'])
  const origins = (count: number) => many(count).map((host) => `https://${host}`)
  assert.deepEqual(fields({ origins: origins(100) }), [])
  assert.deepEqual(fields({ origins: origins(101) }), ['origin'])
  const net = 'https://net.example/c?u={url_encoded}&x='
  assert.deepEqual(fields({ deep_link: net.padEnd(1000, 'x') }), [])
  assert.deepEqual(fields({ deep_link: net.padEnd(1001, 'x') }), ['deep_link'])
})

test('a deep link must be an address that takes the product’s', () => {
  const good = 'https://net.example/c?u={url_encoded}&sub={cid}'
  assert.deepEqual(fields({ deep_link: good }), [])
  assert.deepEqual(fields({ deep_link: 'https://net.example/{cid}/{url_encoded}' }), [])
  const wrong = [
    'https://net.example/c',
    'net.example?u={url_encoded}',
    `${good}&x={price}`,
    `s${good}`,
  ]
  // No reader would get anywhere.
  wrong.push('https://{url_encoded}/c', 'https://{cid}.net.example/?u={url_encoded}')
  for (const deep_link of [...wrong, `${good}${'x'.repeat(1000)}`]) {
    assert.deepEqual(fields({ deep_link }), ['deep_link'], deep_link)
  }
})

test('stores domains and origins in one form, each once', () => {
  const domains = ['www.Shop.example', 'shop.example', 'shop.test']
  const origins = ['https://Shop.example/', 'https://shop.example:443', 'https://käse.example']
  const normal = normalMerchant({ ...base, domains, origins })
  assert.deepEqual(normal.domains, ['shop.example', 'shop.test'])
  assert.deepEqual(normal.origins, ['https://shop.example', 'https://xn--kse-qla.example'])
})
