/** When the links of a page are counted, without a browser. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Anchor } from './link.ts'
import { watchLinks } from './page-links.ts'
import type { PageSession, Parts } from './page-session.ts'
import type { Job } from './request-queue.ts'

const LINK = 'https://go.example'
const REDIRECT = 'https://souk.example/api/v1/redirect/'

/** An anchor with attributes only. */
function makeAnchor(address: string) {
  const attributes = new Map([['href', address]])
  return {
    host: new URL(address).host,
    reads: 0,
    isConnected: true,
    relList: { add: () => undefined },
    get href() {
      this.reads++
      return attributes.get('href') ?? ''
    },
    set href(value: string) {
      attributes.set('href', value)
    },
    getAttribute: (name: string) => attributes.get(name) ?? null,
    setAttribute: (name: string, value: string) => void attributes.set(name, value),
    rel: '',
    closest: () => null,
    parentElement: null,
    isContentEditable: false,
    hasAttribute: (name: string) => attributes.has(name),
    removeAttribute: (name: string) => void attributes.delete(name),
    querySelectorAll: () => [],
    dispatchEvent: () => true,
  }
}

/** A page with this many auctioned smart links; `view` brings one of them into view. */
function openPage(t: TestContext, count: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const links = Array.from({ length: count }, (_, at) => makeAnchor(`${LINK}/${at + 1}`))
  const watched = new Map<unknown, (entries: { intersectionRatio: number }[]) => void>()
  class Observer {
    readonly #notify: (entries: { intersectionRatio: number }[]) => void
    constructor(notify: (entries: { intersectionRatio: number }[]) => void) {
      this.#notify = notify
    }
    observe = (anchor: unknown) => void watched.set(anchor, this.#notify)
    disconnect = () => undefined
  }
  const page = {
    document: { links, hidden: false },
    location: { host: 'news.example' },
    getComputedStyle: () => ({ display: 'inline' }),
    IntersectionObserver: Observer,
  }
  for (const [name, value] of Object.entries(page)) {
    Object.defineProperty(globalThis, name, { configurable: true, value })
  }
  const jobs: Job[] = []
  const calls: [string, unknown[]][] = []
  const service = { auction_url: 'https://souk.example', brand: 'service', domains: [] }
  const parts = {
    _service: { ...service, _own: ['//go.example/'] },
    _settings: {},
    _consent: () => ({ consent: 'full', consent_source: undefined }),
    _queue: { _add: (job: Job) => void jobs.push(job) },
  } as unknown as Parts
  const session = {
    _uuid: 'u',
    _asked: {},
    _send: (type: string, events: object[]) => void (events[0] && calls.push([type, events])),
  } as unknown as PageSession
  const pageLinks = watchLinks(parts, session)
  while (pageLinks._scan());
  for (const { _url, _done } of jobs.splice(0)) {
    const id = new URL(_url).searchParams.get('a')
    _done?.({ data: [{ auction_result: { id, redirect_url: `${REDIRECT}?a=${id}&s=1` } }] })
  }
  const view = (at: number) =>
    watched.get(links[at] as unknown as Anchor)?.([{ intersectionRatio: 1 }])
  const viewable = () =>
    calls.filter(([type]) => type.includes('viewable')).map(([, events]) => events.length)
  return { links, view, viewable, pageLinks }
}

test('reads the URLs of a constantly changing page’s links once', (t) => {
  const { links, pageLinks } = openPage(t, 50)
  const reads = () => links.reduce((sum, link) => sum + link.reads, 0)
  const before = reads()
  for (let looks = 0; looks < 10; looks++) pageLinks._scan()
  assert.equal(reads(), before)
  const [link] = links
  link?.setAttribute('href', `${LINK}/1`)
  pageLinks._scan()
  assert.match(link?.getAttribute('href') ?? '', /redirect/, 'the outcome is applied again')
  link?.setAttribute('href', `${LINK}/2`)
  pageLinks._scan()
  assert.match(link?.getAttribute('href') ?? '', /redirect.*a=2&/, 'and so is another link')
})

test('sends one request a second for viewed links while the reader scrolls', (t) => {
  const { view, viewable } = openPage(t, 50)
  for (let at = 0; at < 50; at++) {
    view(at)
    t.mock.timers.tick(100)
  }
  t.mock.timers.tick(2_000)
  const calls = viewable()
  assert.equal(
    calls.reduce((sum, events) => sum + events, 0),
    50,
  )
  assert.ok(calls.length <= 6, `${calls.length} calls in six seconds`)
})
