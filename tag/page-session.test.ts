import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Consent } from './consent.ts'
import { beginSession, type Parts } from './page-session.ts'
import { type Job, REPEATS } from './request-queue.ts'

const PAGE = 'https://news.example/article?id=1#top'
const LAST_PAGE = 'https://news.example/'

// Browsers have it, Node has not.
Object.defineProperty(globalThis, 'webkitURL', { value: URL })

function begin(consent: Consent = { consent: 'full', consent_source: 'tcf' }) {
  const location = { href: PAGE }
  Object.defineProperty(globalThis, 'location', { configurable: true, value: location })
  const jobs: Job[] = []
  const parts = {
    _service: { _base: 'https://souk.example', publisher_id: 7 },
    _queue: { _add: (job: Job) => void jobs.push(job) },
    _consent: () => consent,
  } as unknown as Parts
  const session = beginSession(parts, LAST_PAGE)
  const bodies = () => jobs.map(({ _body }) => JSON.parse(_body ?? ''))
  return { session, jobs, bodies, location, consent }
}

test('a session starts with one page impression, which may be resent: it counts once', () => {
  const { session, jobs, bodies } = begin()
  assert.deepEqual(
    jobs.map(({ _url, _again }) => [_url, _again]),
    [['https://souk.example/api/v1/events/impressions/page_impression/', REPEATS]],
  )
  assert.deepEqual(bodies(), [
    {
      organization_id: 7,
      organization_type: 'publisher',
      user: {
        page_session_uuid: session._uuid,
        source_url: PAGE,
        previous_url: LAST_PAGE,
        consent: 'full',
        consent_source: 'tcf',
      },
      events: [{}],
    },
  ])
})

test('sends a hundred events per call, each once, and empties the list', () => {
  const { session, jobs, bodies } = begin()
  for (const [count, sizes] of [
    [0, []],
    [1, [1]],
    [100, [100]],
    [101, [100, 1]],
    [250, [100, 100, 50]],
  ] as const) {
    jobs.length = 0
    const events = Array.from({ length: count }, (_, at) => ({ auction_id: String(at) }))
    const ids = events.map(({ auction_id }) => auction_id)
    session._send('service_link_impression', events)
    const sent = bodies().map((body) => body.events)
    assert.deepEqual(
      sent.map((list) => list.length),
      sizes,
    )
    assert.deepEqual(
      sent.flat().map((event) => event.auction_id),
      ids,
    )
    assert.equal(events.length, 0)
    for (const { _url, _again } of jobs) {
      assert.ok(_url.endsWith('/impressions/service_link_impression/'))
      assert.equal(_again, undefined)
    }
  }
})

test('events carry the page on which they started, with the reader’s current consent', () => {
  const { session, bodies, location, consent } = begin()
  location.href = 'https://news.example/another'
  Object.assign(consent, { consent: 'contextual', consent_source: 'page' })
  session._send('service_link_impression', [{ auction_id: '1' }])
  const { user } = bodies()[1]
  assert.deepEqual(
    [user.source_url, user.consent, user.consent_source],
    [PAGE, 'contextual', 'page'],
  )
})

test('every session has its own version 4 UUID', () => {
  const uuids = Array.from({ length: 2_000 }, () => begin().session._uuid)
  const version4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
  for (const uuid of uuids) assert.match(uuid, version4)
  assert.equal(new Set(uuids).size, uuids.length)
  const fixed = [8, 13, 14, 18, 23] // hyphens and the version
  for (let place = 0; place < 36; place++) {
    const digits = new Set(uuids.map((uuid) => uuid[place])).size
    assert.equal(digits, fixed.includes(place) ? 1 : place === 19 ? 4 : 16, `at ${place}`)
  }
})
