import assert from 'node:assert/strict'
import { test } from 'node:test'
import { googleCategory, readCategory } from './category.ts'

test('a number of Google’s taxonomy is the category, with or without its words', () => {
  for (const written of ['422', ' 422 ', '422 - Food Items', '422-Food']) {
    assert.equal(readCategory(written), 422)
  }
  assert.equal(googleCategory(422), 422)
})

test('a path of words has one number however it is spaced and cased, and no other path has it', () => {
  const audio = readCategory('Electronics > Audio')
  // Stored with offers and named in floors: it must never change.
  assert.equal(audio, 1_486_203_389)
  for (const same of ['electronics>audio', ' Electronics  >  AUDIO ', 'Electronics > Audio >']) {
    assert.equal(readCategory(same), audio)
  }
  const others = ['Electronics', 'Audio', 'Audio > Electronics', 'Electronics > Audio > Radios']
  const numbers = new Set([audio, ...others.map(readCategory)])
  assert.equal(numbers.size, others.length + 1)
  for (const number of numbers) {
    assert.ok(number !== null && number >= 1_000_000_000 && number < 2 ** 31, String(number))
    assert.equal(googleCategory(number), null, 'it is not passed on as Google’s')
  }
})

test('words that begin or end with digits are a path, and no number of Google’s', () => {
  for (const words of ['3D Printers', '4K TVs > 55 inch', 'Size 42', '422 > 300']) {
    assert.equal(googleCategory(readCategory(words)), null, words)
  }
})

test('spaces between words and the way an accent is written make no other path', () => {
  assert.equal(readCategory('Home &  Garden'), readCategory('Home & Garden'))
  assert.equal(readCategory('Cafe\u0301 > Tea'), readCategory('Caf\u00e9 > Tea'))
})

test('nothing written is no category', () => {
  for (const nothing of ['', '  ', '>', ' > > ']) assert.equal(readCategory(nothing), null)
})
