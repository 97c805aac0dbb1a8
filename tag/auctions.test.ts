/** Auctions of a page session, with a queue that answers when the test says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAuctions } from './auctions.ts'
import type { AuctionResult, Link } from './link.ts'
import type { PageSession, Parts } from './page-session.ts'
import type { Job } from './request-queue.ts'

const [ID, OTHER_ID] = ['9007199254740993', '9007199254740994']
const REDIRECT = 'https://souk.example/api/v1/redirect/?a=1'
const PIXEL = 'https://souk.example/api/v1/pixel/1'

function openSession() {
  const jobs: Job[] = []
  const links = new Map<number, Link>()
  const session = { _uuid: 'u', _asked: {} } as unknown as PageSession
  const parts = {
    _service: { auction_url: 'https://auction.example' },
    _queue: { _add: (job: Job) => void jobs.push(job) },
    _consent: () => ({ consent: 'full', consent_source: 'tcf' }),
    _links: links as unknown as Parts['_links'],
  } as unknown as Parts
  const applied: (readonly [Link, AuctionResult])[] = []
  const fired: unknown[] = []
  const run = makeAuctions(
    parts,
    session,
    (link, result) => applied.push([link, result]),
    (event, result) => fired.push([event, result.id]),
  )
  const find = (id: string, more: Partial<Link> = {}): Link => {
    const link = { ...more } as Link
    links.set(links.size, link)
    run(link, id)
    return link
  }
  const answer = (at: number, result: object = {}, more: object = {}) => {
    const auction_result = { id: `r${at}`, auction_id: ID, redirect_url: REDIRECT, ...result }
    const entry = { auction_result, impression_pixel_url: PIXEL, ...more }
    jobs[at]?._done?.({ data: [entry] })
  }
  return { jobs, session, applied, fired, find, answer }
}

test('requests one auction per id, and gives its outcome to all links, later ones at once', () => {
  const { jobs, applied, fired, find, answer } = openSession()
  const [first, other, second] = [find(ID), find(OTHER_ID), find(ID)]
  assert.equal(jobs.length, 2)
  assert.equal(applied.length, 0)
  answer(0, {}, { has_winner: true })
  const third = find(ID)
  assert.deepEqual(
    applied.map(([link, { id, has_winner }]) => [link, id, has_winner]),
    [first, second, third].map((link) => [link, 'r0', true]),
  )
  assert.ok(!applied.some(([link]) => link === other))
  assert.deepEqual(fired, [['impression', 'r0']], 'once, however many links')
  assert.deepEqual([jobs.length, jobs[2]], [3, { _url: PIXEL }])
})

test('requests an auction by id with session and consent, bypassing caches', () => {
  const { jobs, find } = openSession()
  find(ID)
  find(OTHER_ID)
  const [first, second] = jobs.map(({ _url }) => new URL(_url))
  assert.equal(`${first?.origin}${first?.pathname}`, 'https://auction.example/api/v1/auction/')
  const { t, ...query } = Object.fromEntries(first?.searchParams ?? [])
  assert.deepEqual(query, { a: ID, uuid: 'u', consent: 'full', consent_source: 'tcf' })
  assert.match(t ?? '', /^\d+$/)
  assert.notEqual(second?.searchParams.get('t'), t)
})

test('ignores an outcome without a web URL, and one that arrives after the page is left', () => {
  for (const redirect_url of [
    '',
    'javascript:alert(1)',
    'data:,x',
    '/path',
    'xhttps://a.example',
  ]) {
    const { jobs, applied, fired, find, answer } = openSession()
    find(ID)
    assert.throws(() => answer(0, { redirect_url }))
    find(ID)
    assert.deepEqual([jobs.length, applied, fired], [1, [], []], redirect_url)
  }
  const { jobs, session, applied, fired, find, answer } = openSession()
  find(ID)
  session._asked = {}
  answer(0)
  assert.deepEqual([jobs.length, applied, fired], [1, [], []])
})

test('reuses known outcomes when a reader returns, and requests only the missing ones', () => {
  const { jobs, session, applied, find, answer } = openSession()
  find(ID)
  answer(0)
  find(OTHER_ID)
  session._asked = {}
  const [known, unknown] = [find(ID), find(OTHER_ID)]
  assert.equal(applied.at(-1)?.[0], known)
  answer(2)
  assert.notEqual(applied.at(-1)?.[0], unknown, 'the answer came for the earlier visit')
  const asked = jobs.flatMap(({ _url }) => new URL(_url).searchParams.get('a') ?? [])
  assert.deepEqual(asked, [ID, OTHER_ID, OTHER_ID])
  answer(3, { id: 'late' })
  assert.equal(applied.at(-1)?.[0], unknown)
})

test('runs no auction for a link that the page excludes, and fires no pixel without one', () => {
  const { jobs, applied, find, answer } = openSession()
  assert.equal(find(ID, { _isLeft: true })._id, ID, 'it is counted all the same')
  assert.equal(jobs.length, 0)
  find(ID)
  answer(0, {}, { impression_pixel_url: undefined })
  assert.deepEqual([jobs.length, applied.length], [1, 2])
})
