import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSearch } from './paths.ts'

const NOTHING = {
  org: undefined,
  from: undefined,
  to: undefined,
  compare: undefined,
  zone: undefined,
  by: undefined,
  only: undefined,
  day: undefined,
  outcome: undefined,
  figure: undefined,
  find: undefined,
  view: undefined,
  state: undefined,
  campaign: undefined,
  health: undefined,
}

test('reads valid parameters of the URL', () => {
  const said = {
    org: 'publisher-7',
    from: '2028-02-29',
    to: '2028-02-29',
    day: '2028-02-29',
    compare: 'year',
    by: 'link',
    only: { country: 'DE', merchant: '3' },
    zone: 'utc',
    outcome: 'unpaid',
    figure: 'sales',
    find: '',
    view: 'merchants',
    state: 'HELD',
    campaign: 7,
    health: 'dead',
  }
  assert.deepEqual(readSearch({ ...said, other: 1 }), said)
  for (const outcome of ['counted', 'unpaid'])
    assert.equal(readSearch({ outcome }).outcome, outcome)
  for (const figure of ['earnings', 'clicks', 'impressions', 'sales']) {
    assert.equal(readSearch({ figure }).figure, figure)
  }
})

test('ignores invalid parameters, and days that do not form a pair', () => {
  const day = '2026-03-02'
  for (const search of [
    { org: 'publisher', outcome: 'all', figure: 'cost', find: 7, view: 7 },
    { state: 'no state', campaign: '7' },
    { state: 1, campaign: 1.5 },
    { org: 'network-1' },
    { by: 'hour', only: { host: 'x', device: 1 } },
    { compare: 'month', zone: 'Europe/Berlin' },
    { from: day },
    { to: day },
    { day: '2026-02-30' },
    { day: 20260302 },
    { from: day, to: '2026-03-01' },
    { from: '2026-02-30', to: day },
    { from: '2026-02-29', to: day },
    { from: '2026-13-01', to: '2026-13-02' },
    { from: `x${day}`, to: `${day}x` },
    { from: day, to: `${day}T00:00:00Z` },
    { from: '2026', to: '2026' },
    { from: '2026-03', to: '2026-04' },
    { from: 2026, to: 2026 },
  ]) {
    assert.deepEqual(readSearch(search), NOTHING, JSON.stringify(search))
  }
})
