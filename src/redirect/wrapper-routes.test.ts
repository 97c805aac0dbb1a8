import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BROWSER } from '../../test/support/app.ts'
import { indexMarket } from '../auction/market.ts'
import { type WrapperDeps, wrapperRoute } from './wrapper-routes.ts'

const PAGE = 'https://shop.example/boots'

const market = indexMarket({
  ...{ version: 1, campaigns: [], disabledLinks: [] },
  publishers: [{ pub_id: 1, slug: 'p', domains: [], allow_hosts: [] } as never],
  merchants: [{ merch_id: 2, domains: ['shop.example'] } as never],
})
const request = {
  ...{ isHead: false, path: '/link', headers: { 'user-agent': BROWSER }, body: null },
  ...{ query: `url=${encodeURIComponent(PAGE)}&publisher_slug=p`, address: '203.0.113.7' },
  requestId: 'r',
}

/** Follows a wrapper of PAGE while storage is down; the statuses, and the reported losses. */
async function followUnstored(isHead: boolean) {
  const unrecorded: unknown[] = []
  const isUnreachable = () => Promise.reject(new Error('away'))
  const deps = {
    ...{ edge: { market }, findOrCreateLink: isUnreachable, findExistingLink: isUnreachable },
    onUnrecorded: (why: unknown) => unrecorded.push(why),
  } as unknown as WrapperDeps
  const { status } = await wrapperRoute(deps).handle({ ...request, isHead })
  return { status, unrecorded: unrecorded.length }
}

test('counts only redirected readers as unrecorded clicks', async () => {
  assert.deepEqual(await followUnstored(false), { status: 302, unrecorded: 1 })
  assert.deepEqual(await followUnstored(true), { status: 302, unrecorded: 0 })
})

/** The route of a wrapper whose link exists already; the database queries, in order. */
function askingRoute(findOrCreateLink = async () => '17') {
  const asked: string[] = []
  const deps = {
    edge: { market },
    findExistingLink: async () => '17',
    findOrCreateLink: () => {
      asked.push('a link')
      return findOrCreateLink()
    },
    findLink: async (auctionId: string) => {
      asked.push(auctionId)
      return null
    },
    ...{
      lastDestination: () => null,
      isStorageUnreachable: () => false,
      onUnrecorded: () => undefined,
    },
  } as unknown as WrapperDeps
  return { asked, handle: wrapperRoute(deps).handle }
}

test('caches a link that comes too late for the first reader of a wrapper', async () => {
  const created = Promise.withResolvers<string>()
  const { asked, handle } = askingRoute(() => created.promise)
  await handle(request)
  created.resolve('17')
  await created.promise
  await handle(request)
  assert.deepEqual(asked, ['a link', '17'])
})

test('the first reader names the article of a link that only a robot looked up before', async () => {
  const { asked, handle } = askingRoute()
  await handle({ ...request, headers: { 'user-agent': 'Googlebot/2.1' } })
  await handle(request)
  assert.deepEqual(asked, ['17', 'a link', '17'])
})
