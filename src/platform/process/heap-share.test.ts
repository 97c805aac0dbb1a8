import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heapShare } from './heap-share.ts'

test('a cache leaves room in a small heap and is bounded in a large one', () => {
  const MIB = 1024 * 1024
  const share = { part: 1 / 4, bytesMax: 256 * MIB }
  assert.equal(heapShare(share, 256 * MIB), 64 * MIB)
  assert.equal(heapShare(share, 4096 * MIB), 256 * MIB)
  assert.ok(heapShare(share) > 0)
})
