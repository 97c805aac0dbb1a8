import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageQuotas, type StoredBytes } from './storage-quota.ts'

const HOUR_MS = 3_600_000
const TERMS = {
  views: { addressMax: 100, organizationBytesMax: 250 },
  clicks: { addressMax: 3, isRows: true, organizationBytesMax: 1_000 },
}

/** Nodes that share one database. */
function makeNodes(count: number) {
  const clock = { nowMs: Date.UTC(2026, 2, 2, 23) }
  const totals = new Map<string, StoredBytes>()
  const leftOut: [string, number][] = []
  const add = async (changes: readonly StoredBytes[]) =>
    changes.map((change) => {
      const key = `${change.day} ${change.kind} ${change.organizationId}`
      const before = totals.get(key)
      const after = {
        ...change,
        bytes: (before?.bytes ?? 0) + change.bytes,
        leftOut: (before?.leftOut ?? 0) + change.leftOut,
      }
      totals.set(key, after)
      return after
    })
  const nodes = Array.from({ length: count }, () => {
    const onLeftOut = (kind: string, rows: number) => void leftOut.push([kind, rows])
    return new StorageQuotas({ terms: TERMS, now: () => clock.nowMs, onLeftOut, add })
  })
  return { clock, nodes, totals, leftOut }
}

const from = (address: string, bytes: number, rows = 1) => ({
  ...{ address, bytes, rows },
  organizationId: 1,
})

test('an address stores its bytes or rows of an hour, then nothing until the hour is over', () => {
  const { clock, nodes, leftOut } = makeNodes(1)
  const [node] = nodes
  assert.ok(node !== undefined)
  const views = (bytes: number) => node.take('views', from('198.51.100.1', bytes))
  assert.deepEqual([views(60), views(60), views(40), views(1)], [true, false, true, false])
  clock.nowMs += HOUR_MS - 1
  assert.equal(views(1), false)
  clock.nowMs += 1
  assert.equal(views(100), true)
  assert.equal(node.take('views', from('198.51.100.2', 1)), true, 'another address')
  const clicks = (rows: number) => node.take('clicks', from('2001:db8::1', 9, rows))
  assert.deepEqual([clicks(2), clicks(2), clicks(1)], [true, false, true])
  assert.equal(node.take('clicks', from('2001:db8::ffff', 9)), false, 'the same /64')
  assert.deepEqual(
    leftOut.map(([kind]) => kind),
    ['views', 'views', 'views', 'clicks', 'clicks'],
  )
})

test('an organization stores its bytes of a day, from any address', () => {
  const { clock, nodes } = makeNodes(1)
  const [node] = nodes
  const taken = () => ['a', 'b', 'c', 'd'].map((address) => node?.take('views', from(address, 100)))
  assert.deepEqual(taken(), [true, true, false, false])
  clock.nowMs += HOUR_MS // Midnight.
  assert.deepEqual(taken(), [true, true, false, false])
})

test('nodes know of each other’s bytes after an exchange, and count none of them twice', async () => {
  const { nodes, totals } = makeNodes(2)
  const [one, other] = nodes
  assert.ok(one !== undefined && other !== undefined)
  one.take('views', from('a', 100))
  other.take('views', from('b', 100))
  await Promise.all([one.exchange(), one.exchange(), other.exchange()])
  assert.equal(other.take('views', from('c', 100)), false)
  assert.equal(other.take('views', from('c', 50)), true)
  await one.exchange()
  await other.exchange()
  const [total] = totals.values()
  assert.deepEqual([total?.bytes, total?.leftOut], [250, 1])
})

test('what is past a quota is answered 429 with the time until it is free again', () => {
  const { clock, nodes } = makeNodes(1)
  const [node] = nodes
  node?.require('views', from('a', 100))
  clock.nowMs += HOUR_MS - 1_500
  assert.throws(
    () => node?.require('views', from('a', 1)),
    (error: { status: number; headers: Record<string, string> }) =>
      error.status === 429 && error.headers['retry-after'] === '2',
  )
})
