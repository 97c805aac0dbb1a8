import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatEvaluation } from './print-evaluation.ts'

const measured = (log_loss: number) => ({
  log_loss,
  normalised_entropy: 0.93,
  calibration: 1.04,
  calibration_error: 0.001,
  weighted_error: 0.4,
  coverage: null,
  coverage_cohorts: 0,
})
const facts = { from: '2026-03-01', to: '2026-03-28', slot: 'day', pair_slots: 4, plot: null }

test('the predictions are printed beside each baseline, in few digits', () => {
  const text = formatEvaluation(
    {
      ...{ ...facts, clicks: 1200, orders: 24, note: null, ours: measured(0.0966112862837) },
      baselines: {
        global_mean: measured(0.1),
        merchant_mean: measured(0.11),
        pair_7_days: measured(0.12),
      },
      bins: [{ clicks: 59.99999999999996, predicted: 0.02, actual: 0.0333333333 }],
    },
    80,
  )
  assert.match(text, /^measure +ours +global_mean +merchant_mean +pair_7_days$/m)
  assert.match(text, /^log_loss +0\.0966 +0\.1000 +0\.1100 +0\.1200$/m)
  assert.match(text, /^60\.0 +2\.00 % +3\.33 %$/m)
  assert.ok(!text.includes('{'), 'no field is left as JSON')
})

test('an evaluation without data says so', () => {
  const note = 'Without a click and an order there is nothing to measure.'
  const none = { ...facts, clicks: 0, orders: 0, note, ours: null, baselines: null, bins: [] }
  assert.match(formatEvaluation(none), /note +Without a click/)
})
