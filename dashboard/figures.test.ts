import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BreakdownRow } from './breakdown-api.ts'
import { changeOf, shownFigure, totalOf } from './figures.ts'

const row = (figures: Partial<BreakdownRow>) => figures as BreakdownRow
const ROWS = [
  row({ earnings: '1.10', compared_earnings: '2.20', clicks: 2, compared_clicks: 4 }),
  row({ earnings: '0.20', compared_earnings: '0.00', clicks: 3, compared_clicks: 0 }),
]

test('totals add up exactly, and the earnings per click are those of all clicks', () => {
  assert.deepEqual(totalOf(ROWS, 'earnings'), { value: 1.3, before: 2.2 })
  assert.deepEqual(totalOf(ROWS, 'earnings_per_click'), { value: 0.26, before: 0.55 })
})

test('a figure that the API does not know stays unknown', () => {
  const rows = [row({ page_views: null, compared_page_views: null })]
  const total = totalOf(rows, 'page_views')
  assert.deepEqual(total, { value: null, before: null })
  assert.equal(shownFigure(total.value, false), '–')
})

test('a change is relative to the compared period, and absent without one', () => {
  assert.deepEqual(changeOf({ value: 3, before: 2 }), { text: '+50 %', isUp: true })
  assert.deepEqual(changeOf({ value: -1, before: -2 }), { text: '+50 %', isUp: true })
  assert.deepEqual(changeOf({ value: 1, before: 4 }), { text: '−75 %', isUp: false })
  assert.equal(changeOf({ value: 1, before: 0 }), null)
})
