import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../platform/money/money.ts'
import { type Standing, standingOf } from './campaign-standing.ts'

const NOW = new Date('2026-03-02T12:00:00Z')
const BEFORE = new Date('2026-03-02T11:59:59Z')
const AFTER = new Date('2026-03-02T12:00:01Z')
const NOTHING = { spentMicros: 0, spentTodayMicros: 0, isOverCap: false }
const open = {
  state: 'active',
  starts_at: null,
  ends_at: null,
  bid_micros: micros(600_000),
  exclusive_bid_micros: null,
  budget_micros: micros(10_000_000),
  daily_budget_micros: micros(2_000_000),
} as const

const cases: readonly [object, object, Standing, string][] = [
  [{}, {}, 'running', 'nothing prevents it'],
  [{ starts_at: NOW, ends_at: AFTER }, {}, 'running', 'it starts with its first moment'],
  [{ starts_at: AFTER }, {}, 'not_begun', 'its flight is to come'],
  [{ ends_at: NOW }, {}, 'ended', 'its last moment is over'],
  [{ state: 'paused' }, {}, 'paused', 'its merchant stopped it'],
  [{ state: 'paused', ends_at: BEFORE }, {}, 'ended', 'resuming would not help'],
  [{}, { spentTodayMicros: 1_400_000 }, 'running', 'a click at its bid is left today'],
  [{}, { spentTodayMicros: 1_400_001 }, 'daily_budget_spent', 'less than a click is left today'],
  [{}, { spentMicros: 9_400_001 }, 'budget_spent', 'less than a click is left'],
  [
    { exclusive_bid_micros: micros(900_000) },
    { spentMicros: 9_200_000 },
    'budget_spent',
    'no exclusive click is left: a win is funded for the most expensive one',
  ],
  [{ state: 'paused' }, { spentMicros: 10_000_000 }, 'budget_spent', 'resuming would not help'],
  [
    { bid_micros: null },
    { spentMicros: 9_999_999 },
    'running',
    'a budget for orders stops with its last cent',
  ],
  [{ bid_micros: null }, { spentMicros: 10_000_001 }, 'budget_spent', 'or beyond it'],
  [
    { bid_micros: null },
    { isOverCap: true },
    'orders_awaited',
    'orders expected of its clicks use its budget up',
  ],
  [
    { bid_micros: null },
    { isOverCap: true, spentTodayMicros: 2_000_000 },
    'daily_budget_spent',
    'today’s is used up already',
  ],
  [
    { budget_micros: null, daily_budget_micros: null },
    { spentMicros: 99_000_000, spentTodayMicros: 99_000_000 },
    'running',
    'without a budget nothing is ever spent',
  ],
]

for (const [settings, spent, expected, why] of cases) {
  test(`a campaign is ${expected} when ${why}`, () => {
    assert.equal(standingOf({ ...open, ...settings }, { ...NOTHING, ...spent }, NOW), expected)
  })
}
