import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CandidateSpec,
  hold,
  type RequestSpec,
  resultNumber,
} from '../../test/support/auction-world.ts'
import { explainAuction } from '../auction/explain.ts'
import { packReceipt, unpackReceipt } from '../auction/receipt.ts'
import { formatExplanation } from './print-explanation.ts'

function printed(specs: readonly CandidateSpec[], asked: RequestSpec = {}) {
  const number = resultNumber(3)
  const packed = packReceipt({ ...hold(specs, asked, number), resultNumber: number })
  return formatExplanation({ ...explainAuction(unpackReceipt(packed)), clicks: [] })
}

test('people read who won, the price and why, and why each other candidate lost', () => {
  const text = printed([
    { name: 'A', bidMicros: 600_000 },
    { name: 'B', bidMicros: 500_000 },
    { name: 'C', bidMicros: 900_000, countries: ['GB'] },
  ])
  assert.match(text, /Outcome {4}campaign 1 of merchant 1 won at \$0\.50 \(publisher \$0\.375/)
  assert.match(text, /Why {8}\$0\.50: the least bid that still beats the runner-up/)
  assert.match(text, /Replay {5}the same to the bit/)
  const rows = text.split('\n').filter((line) => / cpc /.test(line))
  assert.match(rows[0] ?? '', /won$/)
  assert.match(rows[1] ?? '', /Its score is \$0\.50 against \$0\.60 of the winner\.$/)
  assert.match(rows[2] ?? '', /country: US/)
  assert.ok(!text.includes('{'), 'no field is left as JSON')
})

test('a link without a winner says why, and a result without a receipt shows the bare facts', () => {
  const text = printed([{ name: 'A', bidMicros: 5_000 }])
  assert.match(text, /Outcome {4}nobody won/)
  assert.match(text, /Why {8}Nobody won, the link keeps its own destination\. \S/)
  assert.match(formatExplanation({ receipt: null, note: 'gone', clicks: [] }), /note +gone/)
})

test('an exploring auction says so, with or without a winner', () => {
  const how = ', in an auction that explored'
  for (const [bidMicros, outcome] of [
    [5_000, `nobody won${how}\n`],
    [600_000, `platform $0.0025)${how}\n`],
  ] as const) {
    const specs = [{ name: 'A', bidMicros }]
    assert.ok(printed(specs, { epsilonPpm: 1_000_000 }).includes(outcome), outcome)
    assert.ok(!printed(specs, { epsilonPpm: 0 }).includes(how))
  }
})
