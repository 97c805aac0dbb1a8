import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LinkCache } from './link-cache.ts'
import type { LinkData } from './link-store.ts'

const TIMEOUT_MS = 1_000

const link = (auction_id: string): LinkData => ({
  link: {
    ...{ auction_id, pub_id: 1, url: null, article_url: 'https://daily.example/a' },
    ...{ is_exclusive: false, is_keyless: false, unwraps: true },
  },
  ...{ page: null, original: null, offers: [] },
})

/** Links that exist unless the database is down, and the cache's loads and drops. */
function makeCache() {
  const seen = { isUnreachable: false, loaded: [] as string[], dropped: [] as LinkData[] }
  const links = new LinkCache(
    async (ids) => {
      if (seen.isUnreachable) throw new Error('away')
      seen.loaded.push(...ids)
      return new Map(ids.map((id) => [id, link(id)]))
    },
    (data) => seen.dropped.push(data),
  )
  return { links, seen }
}

test('cached links keep serving while they cannot be reloaded', async () => {
  const { links, seen } = makeCache()
  const first = await links.get('1', TIMEOUT_MS)
  assert.equal(await links.get('1', TIMEOUT_MS), first)
  seen.isUnreachable = true
  links.invalidate()
  assert.equal(links.peek('1'), undefined)
  assert.equal(await links.get('1', TIMEOUT_MS), first)
  await assert.rejects(links.get('2', TIMEOUT_MS), /away/)
  assert.deepEqual(seen.loaded, ['1'])
})

test('data derived from a link is dropped when the cached link changes', async () => {
  const { links, seen } = makeCache()
  const first = await links.get('1', TIMEOUT_MS)
  assert.deepEqual(seen.dropped, [])
  links.invalidate()
  const again = await links.get('1', TIMEOUT_MS)
  assert.notEqual(again, first)
  assert.equal(seen.dropped.length, 1)
  assert.equal(seen.dropped[0], first)
})

test('while the database hangs, only a limited number of links wait for it', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const load = () => answered.then(() => new Map<string, LinkData>())
  const links = new LinkCache(load, () => undefined)
  let refused = 0
  const asked = Array.from({ length: 21_000 }, (_, id) =>
    links.get(String(id), 60_000).catch(() => {
      refused += 1
    }),
  )
  await nextTurn()
  assert.equal(refused, 1_000)
  answer()
  await Promise.all(asked)
  assert.equal(refused, 1_000)
})
