import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { micros } from '../platform/money/money.ts'
import { changeUser, createUser } from './create-account.ts'
import { PUBLISHER_DEFAULTS, type PublisherSettings } from './publisher.ts'
import {
  findPublisher,
  findPublisherBySlug,
  insertPublisher,
  listPublishers,
  setExploration,
  updatePublisher,
} from './publisher-store.ts'
import { findUserByEmail, listUsers } from './store.ts'

const db = await testDatabase()
const user = { email: 'Ann@Pub.example', password: 'long enough', isAdmin: true }
const { uid } = await createUser(db, user)
const base: PublisherSettings = { ...PUBLISHER_DEFAULTS, uid, name: 'The Daily', slug: 'Daily' }

test('an e-mail address belongs to one user, in any case', async () => {
  const again = { email: 'ann@pub.example', password: 'long enough', isAdmin: false }
  await assert.rejects(createUser(db, again), { code: 4000, message: /email: another user has/ })
  assert.equal((await findUserByEmail(db, 'ANN@pub.example'))?.is_admin, true)
  assert.equal((await listUsers(db)).length, 1)
  const faulty = { email: 'nobody', password: 'short', isAdmin: false }
  await assert.rejects(createUser(db, faulty), { message: /email: .*; password: / })
  for (const password of ['nine char', 'Password123', ' '.repeat(10)]) {
    const weak = { email: 'bob@pub.example', password, isAdmin: false }
    await assert.rejects(createUser(db, weak), { message: /^password: / })
    await assert.rejects(changeUser(db, { uid, password }), { message: /^password: / })
  }
})

test('a publisher is found by its slug in any case, and no other may have it', async () => {
  const made = await insertPublisher(db, { ...base, domains: ['www.Daily.example'] })
  assert.equal(made.share_ppm, 750_000)
  assert.deepEqual(made.domains, ['daily.example'])
  assert.deepEqual(await findPublisherBySlug(db, 'DAILY'), made)
  assert.deepEqual(await findPublisher(db, made.pub_id), made)
  assert.equal(await findPublisherBySlug(db, 'weekly'), null)
  await assert.rejects(insertPublisher(db, { ...base, slug: 'dAILY' }), { message: /^slug: / })
})

test('an update changes the given settings, is refused as a whole, and keeps the rest', async () => {
  const { pub_id: pubId } = await insertPublisher(db, { ...base, slug: 'weekly' })
  const floor = { floor_micros: micros(50_000), is_partner: true }
  const updated = await updatePublisher(db, { pubId, changes: floor })
  assert.equal(updated.floor_micros, 50_000)
  assert.equal(updated.is_partner, true)
  assert.equal(updated.name, 'The Daily')
  const wrong = { name: 'New', share_ppm: 2_000_000, block_merchants: [99] }
  await assert.rejects(updatePublisher(db, { pubId, changes: wrong }), {
    message: 'share: must be a fraction from 0 to 1; block_merchant: no merchant 99',
  })
  await assert.rejects(updatePublisher(db, { pubId, changes: { slug: 'daily' } }), {
    message: /^slug: /,
  })
  assert.deepEqual(await findPublisher(db, pubId), updated)
  await assert.rejects(updatePublisher(db, { pubId: 999, changes: {} }), { status: 404 })
})

test('lists contain the publishers of one user, or all', async () => {
  const slugs = (await listPublishers(db, { uid: null })).map(({ slug }) => slug)
  assert.deepEqual(slugs, ['Daily', 'weekly'])
  assert.equal((await listPublishers(db, { uid: base.uid + 1 })).length, 0)
})

test("an operator's exploration share wins over a concurrent change by the nightly guard", async () => {
  const { pub_id: pubId, epsilon_ppm: beforePpm } = await insertPublisher(db, {
    ...base,
    slug: 'monthly',
  })
  const exploration = async () => (await findPublisher(db, pubId))?.epsilon_ppm
  await setExploration(db, { pubId, beforePpm, epsilonPpm: 40_000 })
  assert.equal(await exploration(), 40_000)
  await updatePublisher(db, { pubId, changes: { epsilon_ppm: 0 } })
  await setExploration(db, { pubId, beforePpm: 40_000, epsilonPpm: 32_000 })
  assert.equal(await exploration(), 0)
})
