import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../platform/postgres/sql.ts'
import { createApiKey, createUser } from './create-account.ts'
import { KeyPlaces } from './key-places.ts'

const NOW = new Date('2026-03-02T10:00:00Z')
const db = await testDatabase()
const user = { email: 'ann@pub.example', password: 'long enough', isAdmin: false }
const { uid } = await createUser(db, user)

/** Creates a key and reports, for one address after another, whether a notification was sent. */
async function makeKey() {
  const { key, row } = await createApiKey(db, {
    ...{ uid, description: 'site', expiresAt: null, now: NOW },
  })
  const { token_id: tokenId } = row
  const newPlaces = async (...addresses: string[]) => {
    const places = new KeyPlaces(db)
    const news: string[] = []
    for (const address of addresses) {
      await places.note({ tokenId, key, address }, async () => news.push(address))
    }
    return news
  }
  return { key, tokenId, newPlaces }
}

test('the first network of a key is not reported, each further one is reported once, also after a restart', async () => {
  const { newPlaces } = await makeKey()
  const away = '198.51.100.7'
  assert.deepEqual(await newPlaces('203.0.113.7', away, '203.0.113.7', away), [away])
  assert.deepEqual(await newPlaces('203.0.113.7', away), [])
})

test('addresses of one network are one place: an IPv4 /24, an IPv6 /48', async () => {
  const { newPlaces } = await makeKey()
  const same = ['203.0.113.7', '203.0.113.250', '::ffff:203.0.113.9', '203.0.112.7']
  assert.deepEqual(await newPlaces(...same), ['203.0.112.7'])
  const ipv6 = ['2001:db8:1:1::1', '2001:db8:1:ffff::2', '2001:db8:2:1::1']
  assert.deepEqual(await newPlaces(...ipv6), ['2001:db8:1:1::1', '2001:db8:2:1::1'])
})

test('the stored data does not reveal that two keys were used from the same network', async () => {
  const [one, other] = [await makeKey(), await makeKey()]
  for (const { newPlaces } of [one, other]) assert.deepEqual(await newPlaces('192.0.2.1'), [])
  const kept = await db.rows(sql`
    select distinct place_hash from api_key_place
    where token_id = any(${[one.tokenId, other.tokenId]}::int[])`)
  assert.equal(kept.length, 2)
})

test('a network whose notification was interrupted counts as new at the next use, also after a restart', async () => {
  const { key, tokenId, newPlaces } = await makeKey()
  const [home, away] = ['203.0.113.7', '198.51.100.7']
  await newPlaces(home)
  const places = new KeyPlaces(db)
  const cutShort = async () => {
    throw new Error('cut short')
  }
  const use = { tokenId, key, address: away }
  await assert.rejects(places.note(use, cutShort), /cut short/)
  await assert.rejects(places.note(use, cutShort), /cut short/)
  assert.deepEqual(await newPlaces(home, away), [away])
})
