import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../platform/money/money.ts'
import { priceNote } from './price-note.ts'

test('explains second price and the floor to the operator of a new campaign', () => {
  const none = priceNote('second_price', [])
  assert.match(
    none,
    /costs the price needed to win it, not the bid.* the floor, which is \$0\.01\./,
  )
  const floors = [micros(0), micros(50_000)]
  assert.match(priceNote('second_price', floors), /which is \$0\.01 to \$0\.05, depending/)
  assert.match(priceNote('second_price', [micros(50_000)]), /which is \$0\.05\./)
  assert.match(priceNote('first_price', []), /costs the campaign.s bid/)
})
