import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../platform/money.ts'
import { formatCategoryFloor, parseCategoryFloor } from './category-floor.ts'
import {
  normalPublisher,
  PUBLISHER_DEFAULTS,
  type PublisherSettings,
  publisherFaults,
} from './publisher.ts'

const base: PublisherSettings = { ...PUBLISHER_DEFAULTS, uid: 1, name: 'The Daily', slug: 'daily' }
const fields = (changes: Partial<PublisherSettings>) =>
  publisherFaults({ ...base, ...changes }).map(({ field }) => field)

test('a publisher with a name and a slug needs nothing else', () => {
  assert.deepEqual(fields({}), [])
})

test('a name is as long as it has characters, also of letters beyond 16 bits', () => {
  const letter = '\u{1D7D9}'
  assert.deepEqual(fields({ name: letter.repeat(255) }), [])
  assert.deepEqual(fields({ name: letter.repeat(256) }), ['name'])
})

test('settings outside their range are refused, each by its own name', () => {
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

test('a category’s floor names what is wrong with it, and is given once a country', () => {
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

test('what is typed of a floor is what is shown of it', () => {
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

test('hosts are kept in one form, each once', () => {
  const domains = ['WWW.Daily.example', 'daily.example', 'wrong/host']
  assert.deepEqual(normalPublisher({ ...base, domains }).domains, ['daily.example', 'wrong/host'])
})
