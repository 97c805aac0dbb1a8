/** Finds or creates the smart link behind a wrapper URL at its click. */

import { findPublisher } from '../accounts/publisher-store.ts'
import type { IdSource } from '../platform/ids.ts'
import { readArticleUrl } from '../platform/net/article-url.ts'
import { withoutReader } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { cutText } from '../platform/text/characters.ts'
import { wrapperUrl } from './link-url.ts'
import { ARTICLE_NAME_LENGTH_MAX } from './schema.ts'
import {
  type FoundLinkRow,
  findLinks,
  findOrCreateLinks,
  type LinkToFind,
  storedLinkSize,
  type WantedArticle,
} from './store.ts'

export interface WantedWrapperLink {
  readonly pubId: number
  readonly url: string
  readonly isExclusive: boolean
  readonly articleUrl: string | null
  /** The URL itself names the article; false if it is the page the reader comes from. */
  readonly isArticleGiven: boolean
  readonly articleName: string | null
}

export interface WrapperLinkDeps {
  readonly db: Db
  readonly ids: IdSource
  readonly linkUrl: string
  readonly now: () => number
  /** Whether the publisher may have one more link without a key. */
  readonly mayCreate: (pubId: number, address: string, bytes: number) => boolean
}

/** The auction id of an existing link, or null. */
export async function findWrapperLink(
  deps: WrapperLinkDeps,
  wanted: WantedWrapperLink,
): Promise<string | null> {
  return (await findIn(deps.db, await articleOf(deps, wanted), wanted))?.auction_id ?? null
}

/**
 * The link's auction id; null if it does not exist and may not be created. Links created by a click
 * are keyless, because anybody can write any number of such URLs.
 */
export async function findOrCreateWrapperLink(
  deps: WrapperLinkDeps,
  wanted: WantedWrapperLink,
  address: string,
): Promise<string | null> {
  const article = await articleOf(deps, wanted)
  const made = await findIn(deps.db, article, wanted)
  // With a key, everything that a URL could add is known already.
  if (made?.source === 'api') return made.auction_id
  const bytes = storedLinkSize(article, wanted.url)
  if (made === undefined && !deps.mayCreate(wanted.pubId, address, bytes)) return null
  const [link] = await findOrCreateLinks(deps.db, {
    article,
    links: [{ ...linkOf(wanted), auctionId: deps.ids.next() }],
    source: 'wrapper',
    isArticleGiven: wanted.isArticleGiven,
  })
  if (link === undefined) throw new Error('no link was found or created')
  return link.auction_id
}

async function findIn(
  db: Db,
  { pubId, urlKey: articleKey }: WantedArticle,
  wanted: WantedWrapperLink,
): Promise<FoundLinkRow | undefined> {
  const [link] = await findLinks(db, { pubId, articleKey, links: [linkOf(wanted)] })
  return link
}

function linkOf({ url, isExclusive }: WantedWrapperLink): LinkToFind {
  return { url, isExclusive, unwraps: true }
}

async function articleOf(deps: WrapperLinkDeps, wanted: WantedWrapperLink): Promise<WantedArticle> {
  const publisher = await findPublisher(deps.db, wanted.pubId)
  if (publisher === null) throw new Error(`publisher ${wanted.pubId} is gone`)
  const { articleName } = wanted
  const name = articleName === null ? undefined : cutText(articleName, ARTICLE_NAME_LENGTH_MAX)
  // Emails and feeds have no page. Their clicks belong to a placeholder URL of the wrapper.
  const elsewhere = {
    url: '',
    publisherSlug: publisher.slug,
    isExclusive: false,
    articleName: name,
  }
  const named = wanted.articleUrl === null ? null : withoutReader(wanted.articleUrl)
  const url = named ?? wrapperUrl(deps.linkUrl, elsewhere)
  const address = readArticleUrl(url)
  if (address === null) throw new Error(`"${url}" is no web address`)
  return {
    pubId: publisher.pub_id,
    uid: publisher.uid,
    url: address.href,
    urlKey: address.key,
    name: name ?? (named && address.href) ?? 'Links outside articles',
    publicationDate: null,
    at: new Date(deps.now()),
    isTrusted: false,
  }
}
