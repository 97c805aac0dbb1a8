import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import { sql } from '../platform/postgres/sql.ts'
import {
  type ArticleRow,
  addToKeylessCount,
  deletePastLinkHours,
  disableLink,
  findOrCreateLinks,
  insertSmartLink,
  listLinks,
  lockKeylessCount,
  renameArticle,
  type WantedArticle,
} from './store.ts'

const NOON = new Date('2026-03-02T12:00:00Z')
const later = (minutes: number) => new Date(NOON.getTime() + minutes * 60_000)
const db = await testDatabase()
const [{ publisher: ann }, { publisher: bob }] = [
  await makePublisherWorld(db, 'ann'),
  await makePublisherWorld(db, 'bob'),
]
let ids = 9_100_000_000_000_000n
const nextId = () => String(ids++)

/** One page of a publisher; with a key by default. */
function page(path: string, changes: Partial<WantedArticle> = {}): WantedArticle {
  const url = `https://daily.example/${path}`
  const named = { url, urlKey: keyOfUrl(new URL(url)), name: 'Mugs', publicationDate: null }
  return { pubId: ann.pub_id, uid: ann.uid, ...named, at: NOON, isTrusted: true, ...changes }
}

const make = async (article: WantedArticle) => {
  const link = { article, url: 'https://shop.example/1', isExclusive: false }
  return (await insertSmartLink(db, { ...link, auctionId: nextId() })).article
}

async function articlesOf(path: string) {
  const key = page(path).urlKey
  return db.rows<ArticleRow>(sql`
    select pub_id, name, publication_date, datetime_updated from article
    where url_key = ${key} order by pub_id`)
}

test('only its publisher renames an article, and its age stays', async () => {
  const theirs = { pubId: bob.pub_id, uid: bob.uid }
  await make(page('renamed'))
  await make(page('renamed', theirs))
  const row = (pub_id: number, name: string, minutes: number) => ({
    ...{ pub_id, name, publication_date: null, datetime_updated: later(minutes) },
  })
  await renameArticle(db, page('renamed', { at: later(1) }))
  const untouched = [row(ann.pub_id, 'Mugs', 0), row(bob.pub_id, 'Mugs', 0)]
  assert.deepEqual(await articlesOf('renamed'), untouched)
  await renameArticle(db, page('renamed', { at: later(2), name: 'Cups' }))
  const renamed = [row(ann.pub_id, 'Cups', 2), row(bob.pub_id, 'Mugs', 0)]
  assert.deepEqual(await articlesOf('renamed'), renamed)
})

test('an article takes a new publication date, and keeps the old one if none is given', async () => {
  await make(page('dated'))
  const dated = await make(page('dated', { publicationDate: later(5), at: later(1) }))
  assert.deepEqual([dated.publication_date, dated.datetime_updated], [later(5), later(1)])
  const kept = await make(page('dated', { name: 'Cups', at: later(2) }))
  assert.deepEqual([kept.publication_date, kept.datetime_updated], [later(5), later(2)])
  const same = await make(page('dated', { name: 'Cups', publicationDate: later(5), at: later(3) }))
  assert.deepEqual(same.datetime_updated, later(2), 'nothing changed')
})

test('a link once requested with a key stays vouched for, and so does an article once named', async () => {
  const ask = async (isTrusted: boolean, isArticleGiven: boolean) => {
    const wanted = { url: 'https://shop.example/1', isExclusive: false, unwraps: true }
    const [link] = await findOrCreateLinks(db, {
      ...{ article: page('vouched', { isTrusted }), source: 'wrapper' },
      links: [{ ...wanted, auctionId: nextId() }],
      isArticleGiven,
    })
    const row = await db.row<{ is_article_given: boolean }>(sql`
      select is_article_given from smart_link where auction_id = ${link?.auction_id ?? ''}::bigint`)
    return [link?.is_keyless, row?.is_article_given]
  }
  assert.deepEqual(await ask(false, false), [true, false])
  assert.deepEqual(await ask(false, true), [true, true])
  assert.deepEqual(await ask(true, false), [false, true])
  assert.deepEqual(await ask(false, false), [false, true])
})

test('the links that calls without a key make are counted for each publisher and hour', async () => {
  const countOf = (pubId: number, now = NOON) =>
    db.transaction((tx) => lockKeylessCount(tx, { pubId, now }))
  for (const { pub_id: pubId } of [ann, bob]) await countOf(pubId)
  await addToKeylessCount(db, { pubId: ann.pub_id, now: NOON, links: 3 })
  await addToKeylessCount(db, { pubId: ann.pub_id, now: later(59), links: 4 })
  assert.deepEqual([await countOf(ann.pub_id), await countOf(bob.pub_id)], [7, 0])
  assert.equal(await countOf(ann.pub_id, later(60)), 0)
  await deletePastLinkHours(db, later(59))
  assert.equal(await countOf(ann.pub_id), 7, 'an hour that is not over keeps its count')
  assert.equal(await deletePastLinkHours(db, later(120)), 2, 'of both publishers')
})

test('a link is disabled alone, and once: a second time changes nothing of it', async () => {
  const [auctionId, other] = [nextId(), nextId()]
  const link = { article: page('disabled'), url: null, isExclusive: false }
  for (const id of [auctionId, other]) await insertSmartLink(db, { ...link, auctionId: id })
  const updatedAt = () =>
    db.row(sql`select datetime_updated from smart_link where auction_id = ${auctionId}::bigint`)
  await disableLink(db, auctionId)
  assert.notDeepEqual(await updatedAt(), { datetime_updated: NOON })
  await db.run(sql`
    update smart_link set datetime_updated = ${NOON} where auction_id = ${auctionId}::bigint`)
  await disableLink(db, auctionId)
  assert.deepEqual(await updatedAt(), { datetime_updated: NOON })
  // The newest first, as an operator is shown them.
  const [newest, second] = await listLinks(db)
  assert.deepEqual([newest?.auction_id, newest?.state], [other, 'active'])
  assert.deepEqual([second?.auction_id, second?.state], [auctionId, 'disabled'])
})
