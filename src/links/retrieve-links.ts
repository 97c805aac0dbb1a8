/** LinkMate: returns the smart links of an article's raw URLs, and creates missing ones. */

import { authorize } from '../accounts/caller.ts'
import { findPublisher, type Publisher } from '../accounts/publisher-store.ts'
import type { KeyHolder } from '../accounts/require-key.ts'
import { ApiError, badRequest, notFound } from '../platform/errors/api-errors.ts'
import { WEB_URL_RULE } from '../platform/http/field-types.ts'
import { type ArticleAddress, readArticleUrl } from '../platform/net/article-url.ts'
import { parseWebUrl, siteHost, withoutReader } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import type { OwnBases } from './link-url.ts'
import { linkKey, parentDomains, type WantedLink, wantedLinks } from './linkmate.ts'
import type { LinkMateBody } from './schema.ts'
import {
  addToKeylessCount,
  type FoundLinkRow,
  findLinks,
  findOrCreateLinks,
  listMerchantDomains,
  lockKeylessCount,
  type RetrievedLinkRow,
  renameArticle,
  storedLinkSize,
  type WantedArticle,
} from './store.ts'

export interface LinkMateDeps {
  readonly db: Db
  readonly bases: OwnBases
  readonly nextId: () => string
  readonly now: () => Date
  /** New links per publisher and hour for calls without a key. Further ones are left out. */
  readonly newPerHour: number
  readonly onLeftOut: (links: number) => void
  /** Whether a call without a key may store a link of this size, which then counts. */
  readonly mayStore: (pubId: number, address: string, bytes: number) => boolean
  readonly onLinks: (links: readonly FoundLinkRow[]) => void
}

export interface LinkMateCall {
  readonly pubId: number
  readonly holder: KeyHolder | null
  readonly address: string
  readonly body: LinkMateBody
}

/** The links in the order of the request. Throws 400, 403 or 404 before it creates anything. */
export async function retrieveLinks(
  deps: LinkMateDeps,
  { pubId, holder, address, body }: LinkMateCall,
): Promise<RetrievedLinkRow[]> {
  const page = readArticleUrl(body.article.url)
  if (page === null) throw badRequest([{ field: 'article.url', rule: WEB_URL_RULE }])
  const publisher = await findPublisher(deps.db, pubId)
  if (publisher === null) throw notFound(`No publisher ${pubId}`)
  if (holder !== null) authorize(holder, { kind: 'publisher', id: pubId }, 'links.write')
  if (!publisher.is_partner) throw new ApiError('notPartner')

  const ownDomains = publisher.domains
  const { url: articleUrl } = page
  const rules = { articleUrl, ownDomains, bases: deps.bases, unwraps: body.unwrap_links ?? true }
  const everyLink = wantedLinks(body.links, rules)
  const isMonetizable = await monetizableLinks(deps.db, everyLink)
  // A publisher may narrow LinkMate to hosts that some merchant of the network owns.
  const wanted = publisher.linkmate_scope === 'all' ? everyLink : everyLink.filter(isMonetizable)
  const article = toArticle(body, { page, publisher, holder, at: deps.now() })
  const found = await findOrCreate(deps, { article, wanted, address })
  const byKey = new Map(found.map((link) => [linkKey(link.url, link.is_exclusive), link]))
  const links = wanted.flatMap((link) => {
    const row = byKey.get(linkKey(link.url, link.isExclusive))
    return row === undefined ? [] : { ...row, is_monetizable: isMonetizable(link) }
  })
  deps.onLinks(links)
  // Links disabled by the operator are not returned.
  return links.filter(({ state }) => state === 'active')
}

function toArticle(
  { article: { name } }: LinkMateBody,
  of: { page: ArticleAddress; publisher: Publisher; holder: KeyHolder | null; at: Date },
): WantedArticle {
  const { page, publisher, holder, at } = of
  // Without a key, the URL comes from a reader's browser.
  const kept = holder === null ? withoutReader(page.href) : page.href
  return {
    pubId: publisher.pub_id,
    uid: publisher.uid,
    url: kept,
    urlKey: page.key,
    name: name?.trim() ? name : kept, // A page without a title still has a URL.
    publicationDate: null,
    at,
    isTrusted: holder !== null,
  }
}

/** Finds the links that lead to a merchant of the network, by their host or the host inside. */
async function monetizableLinks(
  db: Db,
  wanted: readonly WantedLink[],
): Promise<(link: WantedLink) => boolean> {
  const domains = new Map(wanted.map((link) => [link, linkDomains(link)]))
  const all = [...new Set([...domains.values()].flat())]
  const owned = all.length === 0 ? new Set() : await listMerchantDomains(db, all)
  return (link) => domains.get(link)?.some((domain) => owned.has(domain)) ?? false
}

function linkDomains({ url, target }: WantedLink): string[] {
  const written = parseWebUrl(url)
  const hosts = new Set([target, ...(written === null ? [] : [written])].map(siteHost))
  return [...hosts].flatMap(parentDomains)
}

interface WantedLinks {
  readonly article: WantedArticle
  readonly wanted: readonly WantedLink[]
  readonly address: string
}

/**
 * Usually one read-only statement, because an article's links are created once and requested often.
 */
async function findOrCreate(deps: LinkMateDeps, links: WantedLinks): Promise<FoundLinkRow[]> {
  const { article, wanted } = links
  const { pubId, urlKey: articleKey, isTrusted } = article
  if (isTrusted) await renameArticle(deps.db, article)
  if (wanted.length === 0) return []
  const there = await findLinks(deps.db, { pubId, articleKey, links: wanted })
  const usable = there.filter(({ is_keyless }) => !(isTrusted && is_keyless))
  const missing = { ...links, wanted: without(wanted, usable) }
  if (missing.wanted.length === 0) return usable
  const created = isTrusted
    ? await create(deps, deps.db, missing)
    : await deps.db.transaction((tx) => createKeyless(deps, tx, missing))
  return [...usable, ...created]
}

/** Creates as many links as the hourly limit for calls without a key allows. */
async function createKeyless(
  deps: LinkMateDeps,
  tx: Db,
  links: WantedLinks,
): Promise<FoundLinkRow[]> {
  const { pubId, urlKey: articleKey, at: now } = links.article
  const free = Math.max(0, deps.newPerHour - (await lockKeylessCount(tx, { pubId, now })))
  // Several readers may open a new article at once. Another call may just have created its links.
  const there = await findLinks(tx, { pubId, articleKey, links: links.wanted })
  const missing = without(links.wanted, there)
  const granted = missing
    .slice(0, free)
    .filter(({ url }) => deps.mayStore(pubId, links.address, storedLinkSize(links.article, url)))
  if (granted.length < missing.length) deps.onLeftOut(missing.length - granted.length)
  if (granted.length === 0) return there
  await addToKeylessCount(tx, { pubId, now, links: granted.length })
  return [...there, ...(await create(deps, tx, { ...links, wanted: granted }))]
}

function create(
  { nextId }: LinkMateDeps,
  db: Db,
  { article, wanted }: WantedLinks,
): Promise<FoundLinkRow[]> {
  return findOrCreateLinks(db, {
    article,
    links: wanted.map((link) => ({ ...link, auctionId: nextId() })),
    source: 'linkmate',
    isArticleGiven: article.isTrusted,
  })
}

function without(wanted: readonly WantedLink[], found: readonly FoundLinkRow[]): WantedLink[] {
  const isFound = new Set(found.map((link) => linkKey(link.url, link.is_exclusive)))
  return wanted.filter(({ url, isExclusive }) => !isFound.has(linkKey(url, isExclusive)))
}
