import assert from 'node:assert/strict'
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { micros } from '../platform/money/money.ts'
import { type SealBinding, type SealedResult, Sealer } from './seal.ts'

const older = { id: 1, key: randomBytes(32) }
const newer = { id: 2, key: randomBytes(32) }

const result: SealedResult = {
  resultNumber: randomBytes(16),
  issuedAtMs: 1_790_000_000_123,
  pubId: 7,
  merchId: 9,
  campaignId: 11,
  offerId: '9007199254740993',
  terms: { model: 'cpc', pricePerClickMicros: micros(542_235) },
  sharePpm: 750_000,
  isExclusive: true,
  isKeylessForeign: false,
  isAtClick: true,
  consent: 2,
  runnerUpMicros: micros(515_122),
  snapshotVersion: 42,
}
const binding: SealBinding = {
  auctionId: '381000000000000001',
  uidService: '8123456789012345',
  url: 'https://shop.example/p?a=1&b=ü',
  uuid: '7e6f3a52-3c9f-4d0b-9d25-2a4f6d1c0a11',
}

test('a seal opens to exactly what was sealed', () => {
  const sealer = new Sealer([newer])
  const token = sealer.seal(result, binding)
  assert.equal(token.length, 124)
  assert.deepEqual({ ...sealer.open(token, binding) }, result)
})

test('any altered character of a token, and any altered parameter, breaks the seal', () => {
  const sealer = new Sealer([newer])
  const token = sealer.seal(result, binding)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: token.length - 1 }),
      fc.constantFrom(...alphabet),
      (at, letter) => {
        fc.pre(token[at] !== letter)
        return sealer.open(token.slice(0, at) + letter + token.slice(at + 1), binding) === null
      },
    ),
    { numRuns: 2000 },
  )
  for (const name of ['auctionId', 'uidService', 'url', 'uuid'] as const) {
    assert.equal(sealer.open(token, { ...binding, [name]: `${binding[name]}0` }), null, name)
  }
  assert.equal(sealer.open(`${token}=`, binding), null)
  assert.equal(sealer.open('', binding), null)
})

test('a key that no longer signs still verifies, and an unknown one does not', () => {
  const token = new Sealer([older]).seal(result, binding)
  assert.notEqual(new Sealer([newer, older]).open(token, binding), null)
  assert.equal(new Sealer([newer]).open(token, binding), null)
})

test('a seal of another version is not opened, even with the right key', () => {
  const sealer = new Sealer([newer])
  const key = Buffer.from(hkdfSync('sha256', newer.key, '', 'souk seal authenticate', 32))
  const { auctionId, uidService, uuid, url } = binding
  const bound = `${auctionId}\n${uidService}\n${uuid}\n${url}`
  const asVersion = (version: number) => {
    const token = Buffer.from(sealer.seal(result, binding), 'base64url')
    token[0] = version
    const digest = createHmac('sha256', key).update(token.subarray(0, -16)).update(bound).digest()
    digest.copy(token, token.length - 16, 0, 16)
    return token.toString('base64url')
  }
  assert.notEqual(sealer.open(asVersion(1), binding), null)
  assert.equal(sealer.open(asVersion(2), binding), null)
  assert.equal(sealer.open(asVersion(0), binding), null)
})

test('two seals of one price share no readable byte beyond the header', () => {
  const sealer = new Sealer([newer])
  const seal = () => sealer.seal({ ...result, resultNumber: randomBytes(16) }, binding)
  const [a, b] = [seal(), seal()].map((token) => Buffer.from(token, 'base64url'))
  assert.ok(a !== undefined && b !== undefined)
  const equal = a.subarray(18).filter((byte, index) => byte === b[18 + index]).length
  assert.ok(equal < 10, `${equal} equal bytes of 75`)
})
