import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeGeoip } from '../../../test/support/geoip.ts'
import { openGeo } from './geo.ts'

const GEOIP = makeGeoip({ '203.0.113.0/24': 'US', '192.0.2.0/31': 'JP' })

async function openDatabase(t: TestContext, content = GEOIP) {
  const folder = await mkdtemp(join(tmpdir(), 'geo '))
  const database = join(folder, 'country.mmdb')
  writeFileSync(database, content)
  const errors: unknown[] = []
  const geo = await openGeo({ header: null, database, onError: (error) => errors.push(error) })
  t.after(async () => {
    geo.close()
    await rm(folder, { recursive: true })
  })
  const countryOf = (address: string) => geo.countryOf({ headers: {}, address })
  const replace = (content: Buffer) => {
    writeFileSync(`${database}.new`, content)
    renameSync(`${database}.new`, database)
  }
  return { countryOf, replace, errors }
}

test('an address has the country of its block, and unknown addresses have none', async (t) => {
  const { countryOf } = await openDatabase(t)
  const of = { '203.0.113.255': 'US', '192.0.2.1': 'JP', '192.0.2.2': null, '': null, x: null }
  for (const [address, country] of Object.entries(of)) assert.equal(countryOf(address), country)
  assert.equal(countryOf('2001:db8::1'), null)
})

test('an IPv6 address is in no block of an IPv4-only database', async (t) => {
  // 32.1 are the first bytes of 2001:db8::.
  const { countryOf } = await openDatabase(t, makeGeoip({ '32.1.0.0/16': 'GB' }))
  assert.equal(countryOf('32.1.13.184'), 'GB')
  assert.equal(countryOf('2001:db8::1'), null)
})

test('only an existing country counts, in any spelling', async (t) => {
  const said = { A1: null, EU: null, us: 'US', GB: 'GB' }
  for (const [code, country] of Object.entries(said)) {
    const blocks = { '192.0.2.0/31': 'JP', '203.0.113.0/24': code }
    const { countryOf } = await openDatabase(t, makeGeoip(blocks))
    assert.equal(countryOf('203.0.113.1'), country, code)
  }
})

test('a damaged block has no country and is reported, and the others keep theirs', async (t) => {
  const damaged = Buffer.from(GEOIP)
  damaged[damaged.indexOf('iso_code') - 1] = 0xff // A text of 64 KiB or more.
  const { countryOf, errors } = await openDatabase(t, damaged)
  assert.equal(countryOf('203.0.113.1'), null)
  assert.equal(errors.length, 1)
  assert.equal(countryOf('192.0.2.1'), 'JP')
})

test('an unreadable database, or one of another kind, stops the start', async (t) => {
  const providers = makeGeoip({ '203.0.113.0/24': { autonomous_system_number: 64_496 } })
  await assert.rejects(openDatabase(t, providers), /^Refusal: GEOIP_DB: ".*" says no country/)
  const cut = GEOIP.subarray(GEOIP.indexOf('MaxMind.com') - 3, -20)
  await assert.rejects(openDatabase(t, cut), /^Refusal: GEOIP_DB: ".*" cannot be read: /)
})

test('a header names a country, or the placeholder that proxies use for an unknown one', async () => {
  const onError = () => assert.fail()
  const geo = await openGeo({ header: 'x-country', database: null, onError })
  const of = { GB: 'GB', gb: 'GB', XX: null, ZZ: null, T1: null, 'GB, US': null, '': null }
  for (const [value, country] of Object.entries(of)) {
    const headers = { 'x-country': value }
    assert.equal(geo.countryOf({ headers, address: '' }), country, value)
  }
  assert.equal(geo.countryOf({ headers: {}, address: '' }), null)
})

test('a new version of the database is used without a restart, and a broken one is reported and ignored', async (t) => {
  const { countryOf, replace, errors } = await openDatabase(t)
  const until = async (isSo: () => boolean) => {
    for (const end = Date.now() + 60_000; !isSo(); await sleep(50)) assert.ok(Date.now() < end)
  }
  replace(makeGeoip({ '203.0.113.0/24': 'CA' }))
  await until(() => countryOf('203.0.113.1') === 'CA')
  replace(Buffer.from('half a file'))
  await until(() => errors.length > 0)
  assert.equal(countryOf('203.0.113.1'), 'CA')
})
