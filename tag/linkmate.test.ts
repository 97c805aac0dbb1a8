/** Requests to LinkMate and the effect of its responses, without a browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Link } from './link.ts'
import { makeLinkmate } from './linkmate.ts'
import type { PageSession, Parts } from './page-session.ts'
import { type Job, REPEATS } from './request-queue.ts'
import type { PageSettings } from './settings.ts'

const ARTICLE = 'https://news.example/article'

function openPage({
  settings = {} as PageSettings,
  isMember = true,
  title = 'A title',
  url = ARTICLE,
} = {}) {
  const page = { document: { title }, location: { host: 'news.example' } }
  for (const [name, value] of Object.entries(page)) {
    Object.defineProperty(globalThis, name, { configurable: true, value })
  }
  const jobs: Job[] = []
  const links = new Map<number, Link>()
  const parts = {
    _service: { _base: 'https://souk.example', publisher_id: 7, linkmate_enabled: isMember },
    _queue: { _add: (job: Job) => void jobs.push(job) },
    _settings: settings,
    _links: links as unknown as Parts['_links'],
  } as Parts
  const adopted: string[] = []
  let answers = 0
  const session = { _sourceUrl: url, _asked: {} } as unknown as PageSession
  const linkmate = makeLinkmate(
    parts,
    session,
    (link, id) => {
      link._id = id
      adopted.push(`${link._href} ${id}`)
    },
    () => {
      answers += 1
    },
  )
  const take = (href: string, more: Partial<Link> = {}) => {
    const matches = (selector: string) => selector === '*' || href.includes(selector)
    const _anchor = { href, matches } as unknown as Link['_anchor']
    const link = { _anchor, _text: href, _href: href, _verdict: 'r', _isLeft: false, ...more }
    links.set(links.size, link)
    linkmate._take(link)
    return link
  }
  const bodies = () => jobs.map(({ _body }) => JSON.parse(_body ?? ''))
  const answer = (at: number, smart: Record<string, string>, more: object = {}) => {
    const entries = Object.entries(smart)
    const smart_links = entries.map(([raw, auction_id]) => ({ auction_id, url: raw, ...more }))
    jobs[at]?._done?.({ data: [{ smart_links }] })
  }
  return { linkmate, session, jobs, links, adopted, take, bodies, answer, answers: () => answers }
}

const urlsOf = (body: { links: { raw_url: string }[] }) => body.links.map(({ raw_url }) => raw_url)
const [A, B, C] = ['https://a.example/', 'https://b.example/', 'https://c.example/'] as const

test('requests each URL once a session, in the order of the page, in one call per scan', () => {
  const { linkmate, jobs, take, bodies } = openPage()
  for (const href of [B, A, B]) take(href)
  linkmate._ask()
  take(A)
  linkmate._ask()
  for (const href of [C, B]) take(href)
  linkmate._ask()
  assert.deepEqual(bodies().map(urlsOf), [[B, A], [C]])
  assert.equal(jobs[0]?._url, 'https://souk.example/api/v1/publishers/7/linkmate/smart_links/')
  assert.equal(jobs[0]?._again, REPEATS, 'the same again gives the same')
})

test('an answer makes links smart that still have the requested URL, and later copies', () => {
  const { linkmate, adopted, take, answer, answers } = openPage()
  take(A)
  const changed = take(B)
  take(C)
  take(A)
  linkmate._ask()
  changed._anchor.href = C
  answer(0, { [A]: '1', [B]: '2' })
  assert.deepEqual([adopted, answers()], [[`${A} 1`, `${A} 1`], 1])
  take(A)
  take(C)
  linkmate._ask()
  assert.deepEqual(adopted.slice(2), [`${A} 1`])
  answer(0, { [A]: '1' })
  assert.equal(adopted.length, 3, 'none twice')
})

test('leaves a link that cannot earn, and asks again when the reader returns', () => {
  const { linkmate, session, adopted, take, bodies, answer } = openPage()
  for (const href of [A, B]) take(href)
  linkmate._ask()
  answer(0, { [A]: '1' }, { is_monetizable: false })
  answer(0, { [B]: '2' }, { is_monetizable: true })
  take(A)
  linkmate._ask()
  assert.deepEqual([adopted, bodies().length], [[`${B} 2`], 1])
  session._asked = {}
  for (const href of [A, B]) take(href)
  linkmate._ask()
  assert.deepEqual(bodies().slice(1).map(urlsOf), [[A]])
  answer(1, { [A]: '1' }, { is_monetizable: true })
  assert.ok(adopted.includes(`${A} 1`))
})

test('ignores an answer that arrives after the reader has left the article', () => {
  const { linkmate, session, adopted, take, answer, answers } = openPage()
  take(A)
  linkmate._ask()
  session._asked = {}
  answer(0, { [A]: '1' })
  assert.deepEqual([adopted, answers()], [[], 0])
  take(A)
  assert.deepEqual(adopted, [`${A} 1`], 'it is known when they return')
})

test('an answer reads only the URLs of its own links, because each read costs a parse', () => {
  const { linkmate, adopted, take, answer } = openPage()
  const reads: string[] = []
  for (const href of [A, B, C]) {
    const { _anchor } = take(href)
    Object.defineProperty(_anchor, 'href', { get: () => reads.push(href) && href })
    linkmate._ask()
  }
  answer(1, { [B]: '2' })
  assert.deepEqual([adopted, reads], [[`${B} 2`], [B]])
})

test('requests only for members, and only links that the page permits and that are short enough', () => {
  const long = (length: number) => A.padEnd(length, 'x')
  const asked = (page: Parameters<typeof openPage>[0], more?: Partial<Link>) => {
    const { linkmate, take, bodies } = openPage(page)
    for (const href of [A, `${B}shop`, long(2_000), long(2_001)]) take(href, more)
    linkmate._ask()
    return bodies().flatMap(urlsOf)
  }
  assert.deepEqual(asked({}), [A, `${B}shop`, long(2_000)])
  assert.deepEqual(asked({ isMember: false }), [])
  assert.deepEqual(asked({}, { _isLeft: true }), [])
  assert.deepEqual(asked({ settings: { selector: 'shop' } }), [`${B}shop`])
})

test('an invalid selector selects no link, and the scan continues', () => {
  const { linkmate, jobs, take } = openPage({ settings: { selector: '.a >' } })
  const matches = (): never => {
    throw new SyntaxError('not a valid selector')
  }
  const link = take(A, { _anchor: { href: A, matches } as unknown as Link['_anchor'] })
  linkmate._ask()
  assert.deepEqual([link._raw, jobs], [undefined, []])
})

test('names the article by its title, cut to the service’s limit, or not at all', () => {
  for (const [page, article] of [
    [{}, { name: 'A title', url: ARTICLE }],
    [{ title: '' }, { name: null, url: ARTICLE }],
    [{ title: 'x'.repeat(300) }, { name: 'x'.repeat(255), url: ARTICLE }],
    [{ url: ARTICLE.padEnd(3_000, 'x') }, { name: 'A title', url: ARTICLE.padEnd(2_000, 'x') }],
  ] as const) {
    const { linkmate, take, bodies } = openPage(page)
    take(A)
    linkmate._ask()
    assert.deepEqual(bodies()[0].article, article)
  }
})

test('locks a link to its shop by its own mark or the page’s, and unwraps unless refused', () => {
  const asked = (settings: PageSettings) => {
    const { linkmate, take, bodies } = openPage({ settings })
    for (const href of [A, `${A}#locklink`, `${A}#LockLink`, `${A}#locklinks`]) take(href)
    linkmate._ask()
    const { links, unwrap_links } = bodies()[0]
    const locked = links.map((link: Record<string, unknown>) => link.exclusive_match_requested)
    return [locked, unwrap_links]
  }
  assert.deepEqual(asked({}), [[false, true, true, false], true])
  assert.deepEqual(asked({ exclusiveLinks: true }), [[true, true, true, true], true])
  assert.deepEqual(asked({ unwrap: true }), [[false, true, true, false], true])
  assert.deepEqual(asked({ unwrap: false }), [[false, true, true, false], false])
})
