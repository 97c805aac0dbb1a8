import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BROWSER } from '../../test/support/app.ts'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/market.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { LeaseBook } from '../budgets/lease.ts'
import { PacingBook } from '../budgets/pacing-book.ts'
import { disableLink, findOrCreateLinks } from '../links/store.ts'
import type { HotRequest } from '../platform/http/hot-http.ts'
import { openGeo } from '../platform/net/geo.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import { listen } from '../platform/postgres/listen.ts'
import type { Database, Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { ClickEstimates } from '../prediction/click-estimates.ts'
import { Edge } from './edge.ts'

async function openEdge(t: TestContext, database: Database, book = new LeaseBook()): Promise<Edge> {
  const nothing = () => undefined
  const edge = await Edge.open({
    ...{ database, book, estimates: new ClickEstimates(), pacing: new PacingBook() },
    ...{ geo: await openGeo({ header: null, database: null, onError: nothing }) },
    ...{
      pricing: 'second_price',
      now: Date.now,
      onReceipt: nothing,
      onCounted: nothing,
      onError: nothing,
    },
  })
  t.after(() => edge.close())
  return edge
}

const addMerchant = (db: Db, name: string) =>
  db.run(sql`insert into merchant (name, postback_secret) values (${name}, 'secret')`)

test('an older market snapshot that arrives late does not replace a newer one', async (t) => {
  const db = await testDatabase(t)
  const gate = Promise.withResolvers<void>()
  let reads = 0
  // The second snapshot, of the first change, takes long.
  const database: Database = {
    ...db,
    transaction: async (work, mode) => {
      const result = await db.transaction(work, mode)
      if (mode?.isSnapshot === true && ++reads === 2) await gate.promise
      return result
    },
  }
  const edge = await openEdge(t, database)
  await addMerchant(db, 'one')
  await until(async () => reads >= 2)
  await addMerchant(db, 'two')
  await sleep(500)
  gate.resolve()
  await until(async () => edge.market.merchants.size === 2)
  await sleep(200)
  assert.equal(edge.market.merchants.size, 2)
})

test('a change is in use while budgets are still being evaluated for an earlier one', async (t) => {
  const db = await testDatabase(t)
  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  let isJudging = false
  const database: Database = {
    ...db,
    rows: async (query) => {
      if (edge !== null && query.text.includes('budget_account')) {
        isJudging = true
        await gate.promise
      }
      return db.rows(query)
    },
  }
  let edge: Edge | null = null
  edge = await openEdge(t, database)
  await addMerchant(db, 'one')
  await until(() => isJudging)
  await addMerchant(db, 'two')
  await until(() => edge?.market.merchants.size === 2)
})

test('edges are notified of changed links, not of newly created ones', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const page = 'https://gazette.example/kettles'
  const article = {
    ...{ pubId: publisher.pub_id, uid: publisher.uid, name: 'Kettles', publicationDate: null },
    ...{ url: page, urlKey: keyOfUrl(new URL(page)), at: new Date() },
  }
  const auctionId = '9007199254740993'
  const find = (isTrusted: boolean) =>
    findOrCreateLinks(db, {
      article: { ...article, isTrusted },
      links: [{ url: 'https://kettles.example/1', isExclusive: false, unwraps: true, auctionId }],
      ...{ source: 'linkmate', isArticleGiven: isTrusted },
    })
  const notified: string[] = []
  const ready = Promise.withResolvers<void>()
  const listener = listen({
    ...{ connection: db.connection, applicationName: 'souk: test', channel: 'souk_config' },
    onNotification: (table) => notified.push(table),
    onListening: ready.resolve,
  })
  t.after(() => listener.close())
  await ready.promise

  await find(false)
  await find(false)
  await db.run(sql`select pg_notify('souk_config', 'made and found')`)
  await find(true)
  await disableLink(db, auctionId)
  await until(async () => notified.length >= 3)
  assert.deepEqual(notified, ['made and found', 'smart_link', 'smart_link'])
})

test("a robot's auction reserves no budget", async (t) => {
  const db = await testDatabase(t)
  const world = await makePublisherWorld(db)
  const campaignId = await world.addCampaign()
  const { auctionId } = await world.addArticle('kettles')
  const wins: number[] = []
  class CountingBook extends LeaseBook {
    override recordWin(campaignId: number): void {
      wins.push(campaignId)
    }
  }
  const edge = await openEdge(t, db, new CountingBook())
  const link = await edge.findLink(auctionId, 10_000)
  assert(link !== null)
  for (const agent of [BROWSER, 'curl/8.0', 'Googlebot/2.1', BROWSER]) {
    const request = { headers: { 'user-agent': agent }, address: '203.0.113.7', isHead: false }
    const page = { nowMs: Date.now(), consent: undefined }
    const { winner } = edge.runForPage(link, request as unknown as HotRequest, page)
    assert.equal(winner?.campaign.campaign_id, campaignId)
  }
  assert.deepEqual(wins, [campaignId, campaignId])
})
