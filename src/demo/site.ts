/**
 * The demo's shops, magazines and pictures, each on its own host below `localhost`, all on one
 * port. Browsers resolve `*.localhost` to this machine without any set-up.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { smartLinkUrl } from '../links/link-url.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { freePort } from '../platform/net/free-port.ts'
import { articlePage, frontPage } from './article-page.ts'
import { type DemoState, linkKey, pictureUrl, siteUrl } from './load.ts'
import {
  ARTICLES,
  type DemoArticle,
  type DemoMerchant,
  type DemoOffer,
  type DemoPick,
  type DemoPublisher,
  MERCHANTS,
  offersOf,
  PUBLISHERS,
  pickedOffer,
} from './network.ts'
import { productPicture } from './pictures.ts'
import { demoProducts } from './products.ts'
import { productPage, type Shop, shopFront, thanksPage } from './shop-page.ts'

export interface DemoSite {
  close(): Promise<void>
}

export interface SiteOptions {
  readonly state: DemoState
  readonly host: string
  readonly baseUrl: string // The URL of the tags.
  readonly linkUrl: string
}

interface Page {
  readonly status: number
  readonly type: string
  readonly body: string
  /** The redirect target. */
  readonly location?: string
}

export async function startDemoSite(options: SiteOptions): Promise<DemoSite> {
  const { sitePort } = options.state
  const server = createServer((req, res) => answer(res, respond(options, req)))
  const isListening = once(server.listen(sitePort, options.host), 'listening')
  await isListening.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw new Refusal(
      `port ${sitePort} is taken: the demo's links lead to shops there. Free it, or use another SOUK_DATA`,
    )
  })
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The first free port from `first` on; the demo keeps it for good. */
export async function findFreePort(first: number, host: string): Promise<number> {
  const last = Math.min(first + PORTS_TRIED - 1, PORT_MAX)
  for (let port = first; port <= last; port++) {
    try {
      return await freePort({ host, port })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  throw new Error(`no free port for the demo's shops from ${first} to ${last}`)
}

const PORTS_TRIED = 50
const PORT_MAX = 65_535

function answer(res: ServerResponse, { status, type, body, location }: Page): void {
  const headers = { 'content-type': type, 'cache-control': 'no-cache' }
  res.writeHead(status, location === undefined ? headers : { ...headers, location })
  res.end(body)
}

function respond(options: SiteOptions, req: IncomingMessage): Page {
  const slug = (req.headers.host ?? '').split('.')[0] ?? ''
  const url = URL.parse(req.url ?? '/', 'http://demo')
  if (url === null) return NOT_FOUND // Such as `//`, the start of a URL without a host.
  if (url.pathname === '/hooks/hearthside') return { status: 200, type: 'text/plain', body: '' }
  const publisher = PUBLISHERS.find((item) => item.slug === slug)
  if (publisher !== undefined) return magazine(options, publisher, url)
  const merchant = MERCHANTS.find((item) => item.slug === slug)
  if (merchant !== undefined) return shop(options, merchant, url)
  return slug === 'pictures' ? picture(url) : NOT_FOUND
}

const HTML = 'text/html; charset=utf-8'
const NOT_FOUND: Page = {
  status: 404,
  type: HTML,
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Not found</title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<main><h1>Not found</h1><p>There is nothing at this address of the demo.</p></main></html>`,
}
const page = (body: string): Page => ({ status: 200, type: HTML, body })

function magazine(options: SiteOptions, publisher: DemoPublisher, url: URL): Page {
  const { state, baseUrl } = options
  const site = siteUrl(publisher.slug, state.sitePort)
  const articles = ARTICLES.map((article) => ({
    article,
    title: article.title,
    url: `${siteUrl(article.publisher, state.sitePort)}/${article.slug}`,
  }))
  const own = articles.filter(({ article }) => article.publisher === publisher.slug)
  if (url.pathname === '/') return page(frontPage(publisher, own))
  const found = own.find(({ article }) => url.pathname === `/${article.slug}`)
  if (found === undefined) return NOT_FOUND
  return page(
    articlePage({
      publisher,
      article: found.article,
      tagUrl: `${baseUrl}/tag/souk.js`,
      siteUrl: site,
      linkOf: (pick) => smartLink(options, found.article, pick) ?? rawLink(pick, state),
      pictureOf: (gtin) => pictureUrl(gtin, state.sitePort),
      others: articles.filter((other) => other !== found),
    }),
  )
}

/** On the port of this start: the demo may have been created on another one. */
function smartLink({ state, linkUrl }: SiteOptions, article: DemoArticle, pick: DemoPick) {
  const auctionId = state.links[linkKey(article.slug, pick)]
  return auctionId === undefined ? null : smartLinkUrl(linkUrl, auctionId)
}

/**
 * A raw link to the shop, as members of the partner program write them; LinkMate turns it into a
 * smart link.
 */
function rawLink(pick: DemoPick, { sitePort }: DemoState): string {
  const { merchant, sku } = pickedOffer(pick)
  return `${siteUrl(merchant.slug, sitePort)}/p/${sku}${pick.isExclusive ? '#locklink' : ''}`
}

function shop({ state, baseUrl }: SiteOptions, merchant: DemoMerchant, url: URL): Page {
  const about: Shop = {
    merchant,
    merchId: state.merchants[merchant.slug] ?? 0,
    hue: MERCHANTS.indexOf(merchant) * 60,
    tagUrl: `${baseUrl}/tag/souk-merchant.js`,
    pictureOf: (gtin) => pictureUrl(gtin, state.sitePort),
  }
  const offers = offersOf(merchant)
  if (url.pathname === '/') return page(shopFront(about, offers))
  const product = /^\/p\/(.*)/.exec(url.pathname)?.[1]
  const sku = product ?? url.searchParams.get('sku')
  const offer = offers.find((item) => item.sku === sku)
  if (offer === undefined) return NOT_FOUND
  if (product !== undefined) return page(productPage(about, offer))
  if (url.pathname === '/buy') return bought(offer)
  const order = url.searchParams.get('order')
  if (url.pathname !== '/thanks' || order === null) return NOT_FOUND
  return page(thanksPage(about, offer, order))
}

/** The order id is in the URL of the thanks page, so reloading it is the same order. */
function bought({ sku }: DemoOffer): Page {
  const query = new URLSearchParams({ sku, order: `${sku}-${Date.now().toString(36)}` })
  return { status: 303, type: HTML, body: '', location: `/thanks?${query}` }
}

function picture(url: URL): Page {
  const gtin = /^\/(\d{13})\.svg$/.exec(url.pathname)?.[1]
  const product = demoProducts().find((item) => item.gtin === gtin)
  if (product === undefined) return NOT_FOUND
  return { status: 200, type: 'image/svg+xml', body: productPicture(product) }
}
