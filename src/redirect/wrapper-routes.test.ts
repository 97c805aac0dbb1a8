import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BROWSER } from '../../test/app.ts'
import { type WrapperDeps, wrapperRoute } from './wrapper-routes.ts'

const PAGE = 'https://shop.example/boots'

/** Follows a wrapper of PAGE while storage is away; the statuses, and what was told unrecorded. */
async function followUnstored({ isHead = false, mayForward = true }) {
  const told: unknown[] = []
  const isAway = () => Promise.reject(new Error('away'))
  const deps = {
    ...{ findPublisherBySlug: () => ({ pub_id: 1, domains: [] }), isMerchantHost: () => true },
    ...{ findOrCreateLink: isAway, findExistingLink: isAway, mayForward: () => mayForward },
    onUnrecorded: (why: unknown) => told.push(why),
  } as unknown as WrapperDeps
  const { status } = await wrapperRoute(deps).handle({
    ...{ isHead, path: '/link', headers: { 'user-agent': BROWSER }, body: null, requestId: 'r' },
    ...{ query: `url=${encodeURIComponent(PAGE)}&publisher_slug=p`, address: '203.0.113.7' },
  })
  return { status, told: told.length }
}

test('only a reader who was sent on counts as a click that nothing could record', async () => {
  assert.deepEqual(await followUnstored({}), { status: 302, told: 1 })
  assert.deepEqual(await followUnstored({ isHead: true }), { status: 302, told: 0 })
  assert.deepEqual(await followUnstored({ mayForward: false }), { status: 200, told: 0 })
})
