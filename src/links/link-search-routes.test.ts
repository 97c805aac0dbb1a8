import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startDashboard } from '../../test/support/dashboard-session.ts'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { scopeOf } from '../../test/support/scope.ts'
import type { LinkPage } from './dashboard-schema.ts'
import { linkSearchRoute } from './link-search-routes.ts'
import { createLinkRoute } from './routes.ts'

async function start(t: TestContext) {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const { publisher, addArticle } = await makePublisherWorld(db)
  const rival = await makePublisherWorld(db, 'rival')
  let last = 9_200_000_000_000_000n
  const seen: string[] = []
  const shared = {
    db,
    bases: { linkUrl: 'https://go.example', auctionUrl: 'https://auction.example' },
    now: () => new Date('2026-03-02T10:00:00Z'),
  }
  const nextId = () => String(last++)
  const onLink = ({ auction_id }: { auction_id: string }) => void seen.push(auction_id)
  const dashboard = await startDashboard(scope, {
    db,
    routes: (keys) => [
      linkSearchRoute({ ...shared, keys }),
      createLinkRoute({ ...shared, keys, nextId, onLink }),
    ],
  })
  return {
    dashboard,
    rival,
    addArticle,
    seen,
    own: await dashboard.logIn('gazette@example.com'),
    path: `publishers/${publisher.pub_id}/link_search/`,
  }
}

const CREATE = 'smart_links/'
const ORDER = { article_name: 'Mugs', article_url: 'https://gazette.example/mugs' }

test('a new link is first in the list, with the URL to copy', async (t) => {
  const { own, path, addArticle } = await start(t)
  const older = await addArticle('Older')
  const url = 'https://shop.example/p/1'
  const made = await own.call<{ smart_link_url: string }>(CREATE, {
    ...ORDER,
    url,
    exclusive_match_requested: true,
  })
  assert.equal(made.status, 201)
  const { links, next } = (await own.call<LinkPage>(path)).json.data[0]
  assert.equal(next, null)
  const [first, second] = links
  assert.deepEqual(
    [first?.auction_id, first?.smart_link_url, first?.url, first?.exclusive_match_requested],
    ['9200000000000000', 'https://go.example/9200000000000000', url, true],
  )
  assert.equal(first?.smart_link_url, made.json.data[0].smart_link_url)
  assert.equal(second?.auction_id, older.auctionId)
})

test('the node receives each new link at once, so that it can redirect readers during an outage', async (t) => {
  const { own, seen } = await start(t)
  await own.call(CREATE, ORDER)
  assert.deepEqual(seen, ['9200000000000000'])
})

test('lists many links page by page, each link once', async (t) => {
  const { own, path } = await start(t)
  for (let made = 0; made < 101; made += 1) await own.call(CREATE, ORDER)
  const first = (await own.call<LinkPage>(path)).json.data[0]
  const rest = (await own.call<LinkPage>(`${path}?cursor=${first.next}`)).json.data[0]
  const ids = [...first.links, ...rest.links].map(({ auction_id }) => auction_id)
  assert.deepEqual([first.links.length, rest.links.length, rest.next], [100, 1, null])
  assert.equal(new Set(ids).size, 101)
})

test('finds links by words of their URL or article, or by their own URL', async (t) => {
  const { own, path } = await start(t)
  const urls = ['https://shop.example/p/Blue_Mug?x=50%25', 'https://shop.example/p/teapot']
  for (const url of urls) await own.call(CREATE, { ...ORDER, url })
  await own.call(CREATE, { article_name: 'Kettles', article_url: 'https://gazette.example/boil' })
  const found = async (text: string) => {
    const page = (await own.call<LinkPage>(`${path}?search=${encodeURIComponent(text)}`)).json
    return page.data[0].links.map(({ auction_id }) => Number(BigInt(auction_id) % 100n))
  }
  assert.deepEqual(await found('blue_mug'), [0])
  assert.deepEqual(await found('SHOP.example'), [1, 0])
  assert.deepEqual(await found('%25'), [0]) // No character is a wildcard.
  assert.deepEqual(await found('%'), [0])
  assert.deepEqual(await found('kettles'), [2])
  assert.deepEqual(await found(' gazette.example/mugs '), [1, 0])
  assert.deepEqual(await found('https://go.example/9200000000000001/?u1=x'), [1])
  assert.deepEqual(await found('samovar'), [])
  assert.deepEqual(await found(' '), [2, 1, 0])
})

test('search results are paged and never include another publisher', async (t) => {
  const { own, path, addArticle, rival } = await start(t)
  await rival.addArticle('Mugs')
  for (let made = 0; made < 101; made += 1) {
    await own.call(CREATE, ORDER)
    if (made % 50 === 0) await addArticle(`Other ${made}`)
  }
  const first = (await own.call<LinkPage>(`${path}?search=mugs`)).json.data[0]
  const next = `${path}?search=mugs&cursor=${first.next}`
  const rest = (await own.call<LinkPage>(next)).json.data[0]
  assert.deepEqual([first.links.length, rest.links.length, rest.next], [100, 1, null])
})

test('names the fault of a link, and nobody creates or sees links of another publisher', async (t) => {
  const { own, path, dashboard, rival } = await start(t)
  const wrong = await own.call(CREATE, { article_name: '', url: 'ftp://x', article_url: 'x' })
  assert.equal(wrong.status, 400)
  const bad = await own.call(CREATE, { ...ORDER, url: 'ftp://x' })
  assert.deepEqual(
    bad.json.error.data.map(({ field }) => field),
    ['url'],
  )
  const eve = await dashboard.logIn('rival@example.com')
  assert.equal((await eve.call(path)).json.error.code, 4303)
  const forged = { ...ORDER, pub_id: rival.publisher.pub_id }
  assert.equal((await own.call(CREATE, forged)).json.error.code, 4303)
  const nobody = await dashboard.logIn(null)
  assert.equal((await nobody.call(CREATE, ORDER)).json.error.code, 4302)
  assert.deepEqual((await own.call<LinkPage>(path)).json.data[0].links, [])
})
