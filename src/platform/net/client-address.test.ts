import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressIndex } from './address-index.ts'
import { addressUnit, clientAddress, readCidr } from './client-address.ts'

const PROXIES = addressIndex(['127.0.0.0/8', '10.0.0.0/8', 'fd00::/8'].map(readCidr))
const NONE = addressIndex([])

test('an address that did not come through a trusted proxy is taken as it is', () => {
  assert.equal(clientAddress('203.0.113.9', '198.51.100.1', PROXIES), '203.0.113.9')
  assert.equal(clientAddress('127.0.0.1', '198.51.100.1', NONE), '127.0.0.1')
  assert.equal(clientAddress('::ffff:203.0.113.9', undefined, PROXIES), '203.0.113.9')
})

test('behind trusted proxies, the nearest untrusted address counts', () => {
  assert.equal(clientAddress('127.0.0.1', '198.51.100.1', PROXIES), '198.51.100.1')
  assert.equal(
    clientAddress('127.0.0.1', '1.1.1.1, 198.51.100.1, 10.2.3.4', PROXIES),
    '198.51.100.1',
  )
  assert.equal(clientAddress('fd00::5', '2001:db8::7', PROXIES), '2001:db8::7')
  assert.equal(clientAddress('::ffff:127.0.0.1', '198.51.100.1', PROXIES), '198.51.100.1')
  const short = ['::ffff:198.51.100.1', '::FFFF:198.51.100.1', '::ffff:c633:6401']
  const long = ['0:0:0:0:0:ffff:198.51.100.1', '0000:0000:0000:0000:0000:FFFF:C633:6401']
  for (const same of [...short, ...long]) {
    assert.equal(clientAddress('127.0.0.1', same, PROXIES), '198.51.100.1', same)
  }
})

test('the port that some proxies append is ignored', () => {
  for (const hop of ['198.51.100.1:51234', '1.1.1.1, 198.51.100.1:80, 10.2.3.4:80']) {
    assert.equal(clientAddress('127.0.0.1', hop, PROXIES), '198.51.100.1')
  }
  assert.equal(clientAddress('127.0.0.1', '[2001:db8::7]:443', PROXIES), '2001:db8::7')
  assert.equal(clientAddress('127.0.0.1', '[2001:db8::7]', PROXIES), '2001:db8::7')
})

test('an unreadable hop ends the search', () => {
  for (const forwarded of ['', 'unknown', '1.1.1.1, ,', '1.1.1.1, unix:/run/a.sock', 'a:b:c']) {
    assert.equal(clientAddress('127.0.0.1', forwarded, PROXIES), '127.0.0.1', forwarded)
  }
  assert.equal(clientAddress('127.0.0.1', '10.9.9.9', PROXIES), '10.9.9.9', 'all are proxies')
  assert.equal(clientAddress(undefined, '198.51.100.1', PROXIES), '', 'it has hung up by now')
})

test('hops before the trusted ones are not parsed and cost no time', () => {
  // Unreadable hops are the most expensive: each creates an error with a stack.
  const forwarded = `${':,'.repeat(8_000)}198.51.100.1`
  // Processor time, because a busy machine may suspend the process for a second.
  const before = process.cpuUsage()
  for (let times = 0; times < 10; times += 1) {
    assert.equal(clientAddress('127.0.0.1', forwarded, PROXIES), '198.51.100.1')
    assert.equal(clientAddress('203.0.113.9', forwarded, PROXIES), '203.0.113.9')
  }
  assert.ok(process.cpuUsage(before).user < 1_000_000, 'reading them all takes seconds')
})

test('limits count per IPv4 address and per IPv6 /64', () => {
  assert.equal(addressUnit('203.0.113.9'), '203.0.113.9')
  assert.equal(addressUnit('2001:db8:1:2::1'), addressUnit('2001:db8:1:2:ffff::9'))
  assert.notEqual(addressUnit('2001:db8:1:2::1'), addressUnit('2001:db8:1:3::1'))
})

test('a block must be written in full, and an IPv4-mapped block covers IPv4 addresses', () => {
  for (const wrong of [
    '10/8',
    '10',
    '10.0/16',
    '10.0.0.0/33',
    '10.0.0.0/',
    '::1/129',
    '/8',
    'x/8',
  ]) {
    assert.throws(() => readCidr(wrong), { message: /is not an address or CIDR block$/ }, wrong)
  }
  for (const block of ['10.0.0.0/8', '::ffff:10.0.0.0/104', '10.1.2.3', '::ffff:10.1.2.3']) {
    assert.ok(addressIndex([readCidr(block)])('10.1.2.3'), block)
    assert.ok(!addressIndex([readCidr(block)])('11.1.2.3'), block)
  }
  assert.ok(addressIndex([readCidr('::ffff:0:0/96')])('10.1.2.3'), 'all of IPv4')
  for (const block of ['::/0', '2001:db8::7', '2001:db8::/112']) {
    assert.ok(addressIndex([readCidr(block)])('2001:db8::7'), block)
    assert.ok(!addressIndex([readCidr(block)])('10.1.2.3'), block)
  }
})

test('an IPv6 address that only ends like an IPv4 address stays an IPv6 address', () => {
  const address = clientAddress('127.0.0.1', '2001:db8::ffff:198.51.100.1', PROXIES)
  assert.equal(address, '2001:db8::ffff:c633:6401')
})
