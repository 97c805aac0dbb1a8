import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { candidates, request, resultNumber } from '../../test/support/auction-arbitraries.ts'
import {
  type CandidateSpec,
  type Held,
  hold,
  resultNumber as numberOf,
} from '../../test/support/auction-world.ts'
import fc from '../../test/support/fast-check.ts'
import { sized } from '../../test/support/soak.ts'
import { MODEL, type Model } from '../events/event.ts'
import { NO_TERMS, packTerms, unpackTerms } from '../events/pay-terms.ts'
import { offerIdOf } from './candidate-set.ts'
import { LOSS } from './loss-code.ts'
import { packReceipt, type StoredAuction, unpackReceipt } from './receipt.ts'
import { type ClickTerms, compareClick, replayStored, rerun } from './replay.ts'

const WINNER_AT = 90
const PRICE_AT = 104
const SCORE_AT = 112
/** Bytes of a candidate, and offsets of its fields. */
const CANDIDATE_BYTES = 84
const VALUE_AT = 16
const LOSS_AT = 78

function pack(held: Held, resultNumber: Buffer): Buffer {
  return packReceipt({ ...held, resultNumber })
}

function stored(specs: readonly CandidateSpec[]): StoredAuction {
  return unpackReceipt(pack(hold(specs, {}, numberOf(5)), numberOf(5)))
}

/** The sealed terms of a click on the auction's winner. */
function termsOf({ set, request, outcome }: StoredAuction): ClickTerms {
  const { winner, priceMicros } = outcome
  const { pubId, sharePpm } = request.publisher
  const [merchId, campaignId] = [set.merchId[winner] ?? 0, set.campaignId[winner] ?? 0]
  const terms = unpackTerms({ model: set.model[winner] as Model, amount: priceMicros })
  return { pubId, merchId, campaignId, terms, sharePpm }
}

const replay = (packed: Buffer) => replayStored(unpackReceipt(packed))

test('every auction replays from its receipt to the same bits', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, asked, number) => {
      const held = hold(specs, asked, number)
      assert.deepEqual(replay(pack(held, number)), { kind: 'equal' })
    }),
    { numRuns: sized(400, { soak: 10_000 }) },
  )
})

test('a receipt of rule version 1 replays to the same bits, with its pacing coins', async () => {
  const path = new URL('receipts-of-rule-1.json', import.meta.url)
  const receipts = JSON.parse(await readFile(path, 'utf8')) as string[]
  for (const text of receipts) {
    const auction = unpackReceipt(Buffer.from(text, 'base64'))
    assert.equal(auction.ruleVersion, 1)
    assert.ok(auction.outcome.losses.includes(LOSS.paced))
    assert.deepEqual(replayStored(auction), { kind: 'equal' })
  }
  assert.equal(receipts.length, 16)
})

test('a receipt holds the request and the candidates as the auction saw them', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, asked, number) => {
      const held = hold(specs, asked, number)
      const stored = unpackReceipt(pack(held, number))
      assert.deepEqual(stored.resultNumber, number)
      const { publisher, ...facts } = held.request
      const { publisher: storedPublisher, ...storedFacts } = stored.request
      assert.deepEqual(storedFacts, facts)
      const unlisted = { merchants: null }
      assert.deepEqual({ ...storedPublisher, ...unlisted }, { ...publisher, ...unlisted })
      for (let i = 0; i < held.set.n; i++) {
        assert.equal(offerIdOf(stored.set, i), offerIdOf(held.set, i))
        assert.equal(stored.set.category[i], held.set.category[i])
      }
      const { values, weights, scores, ...decision } = rerun(stored)
      const { values: v, weights: w, scores: s, ...decided } = held.outcome
      assert.deepEqual(decision, decided)
    }),
    { numRuns: 300 },
  )
})

test('an outcome altered by one micro-dollar, or in any other field, fails its replay', () => {
  const specs = [
    { name: 'A', bidMicros: 600_000, quality: 0.9 },
    { name: 'B', bidMicros: 500_000, quality: 0.8 },
    { name: 'C', isInStock: false },
  ]
  const packed = pack(hold(specs, {}, numberOf(5)), numberOf(5))
  assert.deepEqual(replay(packed), { kind: 'equal' })

  const altered = Buffer.from(packed)
  altered.writeDoubleLE(packed.readDoubleLE(PRICE_AT) + 1, PRICE_AT)
  const found = replay(altered)
  assert.ok(found.kind === 'different')
  assert.equal(found.field, 'priceMicros')
  assert.equal(Number(found.stored) - Number(found.replayed), 1)
  assert.equal(found.engine, process.versions.v8)

  const lastBit = Buffer.from(packed)
  lastBit[SCORE_AT] = (packed[SCORE_AT] ?? 0) ^ 1
  const bit = replay(lastBit)
  assert.ok(bit.kind === 'different')
  assert.equal(bit.field, 'score')

  const other = Buffer.from(packed)
  other.writeInt16LE(1, WINNER_AT)
  assert.deepEqual(
    { ...replay(other), engine: '' },
    {
      kind: 'different',
      field: 'winner',
      stored: 1,
      replayed: 0,
      engine: '',
    },
  )

  const loss = Buffer.from(packed)
  loss.writeUInt16LE(501, packed.length - CANDIDATE_BYTES + LOSS_AT)
  const wrongLoss = replay(loss)
  assert.ok(wrongLoss.kind === 'different')
  assert.equal(wrongLoss.field, 'losses[2]')
})

test('each field of an outcome is compared with the replay', () => {
  const auction = stored([{ name: 'A' }, { name: 'B' }])
  const { losses, values, weights, scores, ...fields } = auction.outcome
  for (const [field, was] of Object.entries(fields)) {
    const outcome = { ...auction.outcome, [field]: typeof was === 'boolean' ? !was : was + 1 }
    const found = replayStored({ ...auction, outcome })
    assert.equal(found.kind === 'different' && found.field, field)
  }
})

test("each term of a click is compared with its receipt, except a commission's worth", () => {
  const auction = stored([{ name: 'A' }, { name: 'B' }])
  const click = termsOf(auction)
  assert.equal(compareClick(auction, click), null)
  const { terms, ...numbers } = click
  for (const [field, was] of Object.entries(numbers)) {
    const found = compareClick(auction, { ...click, [field]: was + 1 })
    assert.deepEqual(found, { field, stored: was, clicked: was + 1 })
  }
  const { model, amount } = packTerms(terms)
  const expensive = { ...click, terms: unpackTerms({ model, amount: amount + 1 }) }
  const found = { field: 'priceMicros', stored: amount, clicked: amount + 1 }
  assert.deepEqual(compareClick(auction, expensive), found)
  const free = { field: 'model', stored: MODEL.cpc, clicked: MODEL.none }
  assert.deepEqual(compareClick(auction, { ...click, terms: NO_TERMS }), free)
  const sale = stored([{ name: 'A', model: 'cpa', valuePerOrderMicros: 10_000_000 }])
  const sold = { ...termsOf(sale), terms: { model: 'cpa', ratePpm: 123 } as const }
  assert.equal(compareClick(sale, sold), null)
})

test('a changed bid of the runner-up is found by its effect on the price', () => {
  const specs = [
    { name: 'A', bidMicros: 600_000 },
    { name: 'B', bidMicros: 500_000 },
  ]
  const packed = pack(hold(specs, {}, numberOf(6)), numberOf(6))
  const runnerUpBidAt = packed.length - CANDIDATE_BYTES + VALUE_AT
  const altered = Buffer.from(packed)
  altered.writeDoubleLE(packed.readDoubleLE(runnerUpBidAt) - 1, runnerUpBidAt)
  const found = replay(altered)
  assert.ok(found.kind === 'different')
  assert.equal(found.field, 'priceMicros')
})

test('other data is refused with the reason, and other rules are reported, not guessed', () => {
  const packed = pack(hold([{ name: 'A' }], {}, numberOf(7)), numberOf(7))
  assert.throws(() => unpackReceipt(packed.subarray(0, packed.length - 1)), /another length/)
  assert.throws(() => unpackReceipt(Buffer.alloc(300)), /not a receipt of format/)
  assert.throws(() => unpackReceipt(Buffer.alloc(0)), /not a receipt of format/)
  const later = Buffer.from(packed)
  later.writeUInt16LE(9999, 2)
  assert.deepEqual(replay(later), { kind: 'other_rules', ruleVersion: 9999 })
})
