import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BROWSER } from '../../test/app.ts'
import { type WrapperDeps, wrapperRoute } from './wrapper-routes.ts'

const PAGE = 'https://shop.example/boots'

const publisher = { findPublisherBySlug: () => ({ pub_id: 1, domains: [] }) }
const request = {
  ...{ isHead: false, path: '/link', headers: { 'user-agent': BROWSER }, body: null },
  ...{ query: `url=${encodeURIComponent(PAGE)}&publisher_slug=p`, address: '203.0.113.7' },
  requestId: 'r',
}

/** Follows a wrapper of PAGE while storage is away; the statuses, and what was told unrecorded. */
async function followUnstored({ isHead = false, mayForward = true }) {
  const told: unknown[] = []
  const isAway = () => Promise.reject(new Error('away'))
  const deps = {
    ...{ ...publisher, isMerchantHost: () => true },
    ...{ findOrCreateLink: isAway, findExistingLink: isAway, mayForward: () => mayForward },
    onUnrecorded: (why: unknown) => told.push(why),
  } as unknown as WrapperDeps
  const { status } = await wrapperRoute(deps).handle({ ...request, isHead })
  return { status, told: told.length }
}

test('only a reader who was sent on counts as a click that nothing could record', async () => {
  assert.deepEqual(await followUnstored({}), { status: 302, told: 1 })
  assert.deepEqual(await followUnstored({ isHead: true }), { status: 302, told: 0 })
  assert.deepEqual(await followUnstored({ mayForward: false }), { status: 200, told: 0 })
})

test('a link that comes too late for the first reader of a wrapper is known to the next', async () => {
  const created = Promise.withResolvers<string>()
  const asked: string[] = []
  const deps = {
    ...{ ...publisher, isMerchantHost: () => true, mayForward: () => true },
    findOrCreateLink: () => {
      asked.push('a link')
      return created.promise
    },
    findLink: async (auctionId: string) => {
      asked.push(auctionId)
      return null
    },
    ...{ lastDestination: () => null, isStorageAway: () => false, onUnrecorded: () => undefined },
  } as unknown as WrapperDeps
  const { handle } = wrapperRoute(deps)
  await handle(request)
  created.resolve('17')
  await created.promise
  await handle(request)
  assert.deepEqual(asked, ['a link', '17'])
})
