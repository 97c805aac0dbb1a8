/** Plays the readers' visits into a node: the calls of the page tag, and the clicks. */
import assert from 'node:assert/strict'
import type { HotReply } from '../../platform/http/hot-http.ts'
import { type DemoState, siteUrl } from '../load.ts'
import type { DemoArticle } from '../network.ts'
import { COUNTRY_HEADER, type PastNode } from './past-node.ts'
import type { Reader } from './readers.ts'
import type { PlannedClick, PlannedView } from './visits.ts'

/** Auction ids of an article's links, in their order. */
export type LinksOf = (article: DemoArticle) => readonly string[]

export interface Landing {
  readonly url: URL
  readonly clickId: string
}

/** Sessions whose results may still be clicked; a visit lasts minutes. */
const SESSIONS_MAX = 2_000

export class VisitPlayer {
  readonly #past: PastNode
  readonly #state: DemoState
  readonly #linksOf: LinksOf
  /** The redirect of each auction, by session and link. */
  readonly #redirects = new Map<string, ReadonlyMap<number, string>>()
  readonly #cookies = new Map<string, string>()
  #calls = 0

  constructor(past: PastNode, state: DemoState, linksOf: LinksOf) {
    this.#past = past
    this.#state = state
    this.#linksOf = linksOf
  }

  /** A page view: its impression, an auction and a pixel for each link, and the impressions. */
  async view(view: PlannedView, isClicked: (pick: number) => boolean): Promise<void> {
    const { article, session, reader, seenLinks } = view
    await this.#event('page_impression', view, [{}])
    const links = this.#linksOf(article).slice(0, seenLinks)
    const redirects = new Map<number, string>()
    for (const [pick, auctionId] of links.entries()) {
      const isKept = this.#past.storesReceipts
      this.#past.storesReceipts ||= isClicked(pick)
      const query = `a=${auctionId}&t=1&uuid=${session}`
      const reply = await this.#call('/api/v1/auction', { reader, query })
      this.#past.storesReceipts = isKept
      assert.equal(reply.status, 200, String(reply.body))
      const [answer] = JSON.parse(String(reply.body)).data
      redirects.set(pick, answer.auction_result.redirect_url)
      if (!answer.impression_pixel_url) continue
      const pixel = new URL(answer.impression_pixel_url)
      await this.#call('/api/v1/pixel', { reader, query: pixel.search.slice(1) })
    }
    this.#redirects.set(session, redirects)
    if (this.#redirects.size > SESSIONS_MAX) {
      for (const oldest of this.#redirects.keys()) {
        this.#redirects.delete(oldest)
        break
      }
    }
    const events = links.map((auction_id) => ({ auction_id }))
    const { brand } = this.#past.node.config
    if (events.length > 0) await this.#event(`${brand}_link_impression`, view, events)
  }

  /** A click; null if it does not lead to a shop with a click id. */
  async click(click: PlannedClick): Promise<Landing | null> {
    const target = this.#target(click)
    if (target === null) return null
    const { pathname, search } = target
    const isDirect = click.manner === 'direct'
    const isKept = this.#past.storesReceipts
    this.#past.storesReceipts ||= isDirect // The auction runs on the click.
    const reply = await this.#call(pathname.replace(/\/$/, ''), {
      ...{ reader: click.reader, query: search.slice(1), headers: headersOf(click) },
      ...{ hasCookie: true, referrer: this.#articleUrl(click.article) },
    })
    this.#past.storesReceipts = isKept
    const [cookie] = [reply.headers['set-cookie'] ?? []].flat()
    if (cookie !== undefined) this.#cookies.set(click.reader.key, cookie.split(';')[0] ?? '')
    const url = URL.parse(String(reply.headers.location ?? ''))
    const clickId = url?.searchParams.get('cid') ?? null
    return url === null || clickId === null ? null : { url, clickId }
  }

  #target({ session, article, pick, manner, u1 }: PlannedClick): URL | null {
    const auctionId = this.#linksOf(article)[pick]
    if (manner === 'direct') return auctionId === undefined ? null : new URL(`/${auctionId}`, BASE)
    const redirect = this.#redirects.get(session)?.get(pick)
    if (redirect === undefined) return null
    const target = new URL(redirect)
    if (manner === 'forged') target.searchParams.set('url', 'https://elsewhere.example/')
    if (u1 !== null) target.searchParams.set('u1', u1)
    return target
  }

  #articleUrl({ publisher, slug }: DemoArticle): string {
    return `${siteUrl(publisher, this.#state.sitePort)}/${slug}`
  }

  async #event(type: string, view: PlannedView, events: readonly object[]): Promise<void> {
    const body = {
      organization_type: 'publisher',
      organization_id: this.#state.publishers[view.article.publisher],
      user: {
        page_session_uuid: view.session,
        source_url: this.#articleUrl(view.article),
        previous_url: view.referrer,
      },
      events,
    }
    const path = `/api/v1/events/impressions/${type}`
    const sent = { reader: view.reader, body: Buffer.from(JSON.stringify(body)) }
    const reply = await this.#call(path, sent)
    assert.equal(reply.status, 201, String(reply.body))
  }

  async #call(path: string, sent: Sent): Promise<HotReply> {
    const { reader, query = '', body = null, headers = {}, hasCookie, referrer } = sent
    const route = this.#past.match(path)
    assert.ok(route, `no route ${path}`)
    const cookie = hasCookie === true ? this.#cookies.get(reader.key) : undefined
    this.#calls += 1
    return route.handle({
      ...{ isHead: false, path, query, body, address: reader.address },
      headers: {
        'user-agent': reader.agent,
        'content-type': 'application/json',
        [COUNTRY_HEADER]: reader.country,
        ...(reader.isPrivate ? { 'sec-gpc': '1' } : {}),
        ...(cookie === undefined ? {} : { cookie }),
        ...(referrer === undefined ? {} : { referer: referrer }),
        ...headers,
      },
      requestId: `history-${this.#calls}`,
    })
  }
}

const BASE = 'http://localhost'

interface Sent {
  readonly reader: Reader
  readonly query?: string
  readonly body?: Buffer
  readonly headers?: Readonly<Record<string, string>>
  readonly hasCookie?: boolean
  readonly referrer?: string
}

function headersOf({ manner }: PlannedClick): Record<string, string> {
  if (manner === 'prefetch') return { 'sec-purpose': 'prefetch' }
  if (manner === 'framed') return { 'sec-fetch-dest': 'iframe' }
  return {}
}
