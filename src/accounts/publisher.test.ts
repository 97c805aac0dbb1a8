import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../platform/money/money.ts'
import { categoryFloor, formatCategoryFloor, parseCategoryFloor } from './category-floor.ts'
import {
  normalPublisher,
  PUBLISHER_DEFAULTS,
  type PublisherSettings,
  publisherFaults,
} from './publisher.ts'

const base: PublisherSettings = { ...PUBLISHER_DEFAULTS, uid: 1, name: 'The Daily', slug: 'daily' }
const fields = (changes: Partial<PublisherSettings>) =>
  publisherFaults({ ...base, ...changes }).map(({ field }) => field)

test('a publisher needs only a name and a slug', () => {
  assert.deepEqual(fields({}), [])
})

test("a name's length counts characters, also beyond 16 bits", () => {
  const letter = '\u{1D7D9}'
  for (const length of [1, 255]) assert.deepEqual(fields({ name: letter.repeat(length) }), [])
  assert.deepEqual(fields({ name: letter.repeat(256) }), ['name'])
})

test('settings outside their range are refused, each by name', () => {
  assert.deepEqual(fields({ name: ' ' }), ['name'])
  for (const slug of ['', '-a', 'a b', 'a/b', 'ä', 'x'.repeat(65)]) {
    assert.deepEqual(fields({ slug }), ['slug'], slug)
  }
  assert.deepEqual(fields({ share_ppm: 1_000_001, tolerance_ppm: 200_001, beta: 3.1 }), [
    'share',
    'tolerance',
    'beta',
  ])
  assert.deepEqual(fields({ epsilon_ppm: -1, floor_micros: micros(-1), beta: Number.NaN }), [
    'floor',
    'beta',
    'epsilon',
  ])
  assert.deepEqual(fields({ linkmate_scope: 'none' as 'all' }), ['linkmate_scope'])
  assert.deepEqual(fields({ consent_default: 'yes' as 'full' }), ['consent_default'])
  assert.deepEqual(fields({ domains: ['https://daily.example'], allow_hosts: ['com'] }), [
    'domain',
    'allow_host',
  ])
})

test('a new publisher gets the documented defaults for share, tolerance, benefit and exploration', () => {
  const { share_ppm, tolerance_ppm, beta, epsilon_ppm, floor_micros } = PUBLISHER_DEFAULTS
  assert.deepEqual(
    [share_ppm, tolerance_ppm, beta, epsilon_ppm, floor_micros],
    [750_000, 50_000, 1, 50_000, 0],
  )
  const { is_partner, is_price_required, linkmate_scope, consent_default } = PUBLISHER_DEFAULTS
  assert.deepEqual(
    [is_partner, is_price_required, linkmate_scope, consent_default],
    [false, false, 'all', 'full'],
  )
})

test('settings at the ends of their ranges are accepted', () => {
  const none = { share_ppm: 0, tolerance_ppm: 0, beta: 0, epsilon_ppm: 0, floor_micros: micros(0) }
  assert.deepEqual(fields(none), [])
  const most = { share_ppm: 1_000_000, tolerance_ppm: 200_000, beta: 3, epsilon_ppm: 100_000 }
  assert.deepEqual(fields({ ...most, floor_micros: micros(9_000_000_000) }), [])
  const over = { epsilon_ppm: 100_001, floor_micros: micros(9_000_000_001) }
  assert.deepEqual(fields(over), ['floor', 'epsilon'])
  assert.deepEqual(fields({ name: 'x'.repeat(255), slug: 'x'.repeat(64) }), [])
  assert.deepEqual(fields({ name: 'x'.repeat(256) }), ['name'])
})

test('a list of settings has at most a thousand entries', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
  const hosts = (count: number) => ids(count).map((id) => `p${id}.example`)
  const floors = (count: number) =>
    ids(count).map((category_id) => ({ category_id, country: null, floor_micros: micros(1) }))
  const lists = (count: number): [string, Partial<PublisherSettings>][] => [
    ['domain', { domains: hosts(count) }],
    ['allow_host', { allow_hosts: hosts(count) }],
    ['allow_merchant', { allow_merchants: ids(count) }],
    ['block_merchant', { block_merchants: ids(count) }],
    ['category_floor', { category_floors: floors(count) }],
  ]
  for (const [, changes] of lists(1000)) assert.deepEqual(fields(changes), [])
  for (const [field, changes] of lists(1001)) assert.deepEqual(fields(changes), [field])
})

test("a floor for the reader's country replaces the general one, and no floor means zero", () => {
  const floors = ['222=0.10', '222:GB=0.08', '223=0.30'].flatMap(
    (text) => parseCategoryFloor(text) ?? [],
  )
  const floor = (categoryId: number | null, country: string | null) =>
    categoryFloor(floors, { categoryId, country }) / 1e6
  assert.deepEqual([floor(222, 'GB'), floor(222, 'US'), floor(222, null)], [0.08, 0.1, 0.1])
  assert.deepEqual([floor(223, 'GB'), floor(9, 'GB'), floor(null, null)], [0.3, 0, 0])
})

test('an invalid category floor is named, and each country may be given once', () => {
  const floor = (category_id: number, country: string | null, dollars: number) => ({
    category_id,
    country,
    floor_micros: micros(dollars * 1e6),
  })
  assert.deepEqual(fields({ category_floors: [floor(222, null, 0.1), floor(222, 'GB', 0)] }), [])
  const wrong = [floor(0, null, 0.1), floor(222, 'UK', 0.1), floor(222, null, 9_001)]
  for (const one of wrong) assert.deepEqual(fields({ category_floors: [one] }), ['category_floor'])
  const twice = [floor(222, 'GB', 0.1), floor(222, 'GB', 0.2)]
  assert.deepEqual(fields({ category_floors: twice }), ['category_floor'])
})

test('a floor is shown as it was typed', () => {
  for (const text of ['222=0.10', '222:GB=0.08', '5=0.00', '1486203389=0.25']) {
    const floor = parseCategoryFloor(text)
    assert.equal(floor && formatCategoryFloor(floor), text)
  }
  for (const text of ['', '222', 'shoes=1', '222:GBR=1', '222=-1', '222=a', '12345678901=1']) {
    assert.equal(parseCategoryFloor(text), null, text)
  }
})

test('a merchant cannot be allowed and blocked at once', () => {
  assert.deepEqual(fields({ allow_merchants: [1, 2], block_merchants: [2, 3] }), ['block_merchant'])
})

test('hosts are stored in one form, each once', () => {
  const domains = ['WWW.Daily.example', 'daily.example', 'wrong/host']
  assert.deepEqual(normalPublisher({ ...base, domains }).domains, ['daily.example', 'wrong/host'])
})
