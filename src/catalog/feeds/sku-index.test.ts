import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import { SkuIndex } from './sku-index.ts'

const hex = (value: number) => value.toString(16).padStart(16, '0')
/** Four contents, of which each shares one half of its hash with another. */
const contentHash = (content: number) =>
  [0, 1].map((bit) => hex((content >> bit) & 1).slice(8)).join('')

test('an index answers as a plain map of strings does', () => {
  const sku = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', 'é', '日'), maxLength: 4 })
  const stored = fc.uniqueArray(fc.tuple(sku, fc.nat(3)), { selector: ([name]) => name })
  const feed = fc.array(fc.tuple(sku, fc.nat(3)))
  fc.assert(
    fc.property(stored, feed, fc.integer(), (before, rows, seed) => {
      const index = new SkuIndex(seed)
      const model = new Map(
        before.map(([name, content], at) => [name, { content, offerId: at + 1 }]),
      )
      for (const [name, { content, offerId }] of model) {
        index.addStored({ sku: name, offerId, contentHash: contentHash(content) })
      }
      const seen = new Set<string>()
      for (const [name, content] of rows) {
        const known = model.get(name)
        const expected = seen.has(name)
          ? { kind: 'duplicate' }
          : known === undefined
            ? { kind: 'new' }
            : known.content === content
              ? { kind: 'same' }
              : { kind: 'changed', offerId: known.offerId }
        assert.deepEqual(index.meet(name, contentHash(content)), expected)
        seen.add(name)
      }
      const unseen = [...model].filter(([name]) => !seen.has(name))
      assert.deepEqual(
        [...index.unseen()],
        unseen.map(([, { offerId }]) => offerId),
      )
    }),
  )
})

test('distinguishes 300,000 ids of the usual kinds through every growth', () => {
  const index = new SkuIndex(7)
  const ids = function* () {
    for (let number = 0; number < 100_000; number++) {
      yield `SKU-${String(number).padStart(6, '0')}`
      yield String(number)
      yield `sku_${number.toString(36)}-x`
    }
  }
  let offerId = 0
  for (const sku of ids()) index.addStored({ sku, offerId: ++offerId, contentHash: hex(offerId) })
  assert.equal([...index.unseen()].length, 300_000)
  let content = 0
  for (const sku of ids()) assert.equal(index.meet(sku, hex(++content)).kind, 'same', sku)
  assert.equal(index.meet('never', hex(0)).kind, 'new')
})
