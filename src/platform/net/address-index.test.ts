import assert from 'node:assert/strict'
import { test } from 'node:test'
import ipaddr from 'ipaddr.js'
import fc from '../../../test/support/fast-check.ts'
import { addressIndex } from './address-index.ts'
import { type Cidr, readCidr } from './client-address.ts'

// Few different bytes, so that blocks overlap and addresses fall into them.
const byte = fc.constantFrom(0, 1, 2, 127, 128, 254, 255)
const ipv4 = fc.array(byte, { minLength: 4, maxLength: 4 }).map((bytes) => bytes.join('.'))
const ipv6 = fc
  .array(fc.tuple(byte, byte), { minLength: 8, maxLength: 8 })
  .map((pairs) => pairs.map(([a, b]) => (a * 256 + b).toString(16)).join(':'))
const block = fc.oneof(
  fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })),
  fc.tuple(ipv6, fc.integer({ min: 0, max: 128 })),
)

function isInOne(address: string, blocks: readonly Cidr[]): boolean {
  const parsed = ipaddr.parse(address)
  return blocks.some(
    ([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits),
  )
}

test('the index contains an address exactly when one of its blocks does', () => {
  const lists = fc.array(block, { maxLength: 20 })
  fc.assert(
    fc.property(lists, fc.array(fc.oneof(ipv4, ipv6), { maxLength: 20 }), (list, addresses) => {
      const blocks = list.map(([address, bits]) => readCidr(`${address}/${bits}`))
      const isListed = addressIndex(blocks)
      const networks = list.map(([address]) => address)
      for (const address of [...addresses, ...networks]) {
        assert.equal(isListed(address), isInOne(address, blocks), address)
      }
    }),
    { numRuns: 500 },
  )
})

test('a text that is no address is in no block', () => {
  const isListed = addressIndex([readCidr('0.0.0.0/0'), readCidr('::/0')])
  assert.deepEqual(['', 'x', '1.2.3.4', '::1'].map(isListed), [false, false, true, true])
  assert.equal(addressIndex([])('1.2.3.4'), false)
})
