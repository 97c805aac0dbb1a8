/** Wire shapes of articles, smart links, LinkMate, and the page tag's configuration. */
import Type, { type Static } from 'typebox'
import { orNull, rawUrl, timestamp, webUrl } from '../platform/http/field-types.ts'
import { IdempotencyKey } from '../platform/http/idempotency-key.ts'
import { encodeBase62 } from '../platform/ids.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { shortLinkUrl, smartLinkUrl } from './link-url.ts'
import type { CreatedLinkRow, RetrievedLinkRow } from './store.ts'

export const ARTICLE_NAME_LENGTH_MAX = 255 // The limit of the interface, for all endpoints.
const LINKS_MAX = 500 // The longest articles of shops have about 300 links.

const Timestamp = Type.String({ format: 'date-time', description: 'UTC, whole seconds, Z' })

export const CreateHeaders = Type.Object({ 'idempotency-key': IdempotencyKey })

export const CreateSmartLinkBody = Type.Object({
  url: Type.Optional(webUrl('Product page')),
  article_name: Type.String({ minLength: 1, maxLength: ARTICLE_NAME_LENGTH_MAX }),
  article_url: webUrl(),
  article_publication_date: Type.Optional(timestamp('ISO 8601')),
  exclusive_match_requested: Type.Optional(Type.Boolean({ default: false })),
  pub_id: Type.Optional(
    Type.Integer({ description: 'Required when the user has several publishers' }),
  ),
})
export type CreateSmartLinkBody = Static<typeof CreateSmartLinkBody>

/**
 * An article. Missing values have the field's own type, because this record has no nullable fields.
 * An article without a publication date counts as published when first seen.
 */
const ArticleRecord = Type.Object({
  article_id: Type.Integer(),
  uid: Type.Integer(),
  pub_id: Type.Integer(),
  url: Type.String(),
  publication_date: Timestamp,
  datetime_created: Timestamp,
  datetime_updated: Timestamp,
  name: Type.String(),
})

/** A smart link, with its short forms. */
export const SmartLinkRecord = Type.Object({
  smart_link_id: Type.Integer(),
  auction_id: Type.String({ description: 'A 64-bit integer' }),
  smart_link_url: Type.String(),
  uid_created: Type.Integer(),
  datetime_created: Timestamp,
  pub_id: Type.Integer(),
  url: Type.String({ description: 'Empty when none was given' }),
  exclusive_match_requested: Type.Boolean(),
  encoded_auction_id: Type.String({ description: 'The auction id in base 62' }),
  short_link_url: Type.String(),
  article: ArticleRecord,
})

export const LinkMateBody = Type.Object({
  article: Type.Object({
    name: orNull(
      Type.String({ maxLength: ARTICLE_NAME_LENGTH_MAX }),
      'Empty or null: the article is named after its URL',
    ),
    url: webUrl(),
  }),
  links: Type.Array(
    Type.Object({
      raw_url: orNull(rawUrl(), 'An entry that is no absolute http(s) URL is left out'),
      exclusive_match_requested: Type.Optional(Type.Boolean({ default: false })),
    }),
    { maxItems: LINKS_MAX },
  ),
  unwrap_links: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'Look into known click wrappers for the merchant’s address',
    }),
  ),
})
export type LinkMateBody = Static<typeof LinkMateBody>
export type SmartLinkRecord = Static<typeof SmartLinkRecord>

export const RetrievedLink = Type.Object({
  auction_id: Type.String({ description: 'A 64-bit integer' }),
  url: Type.String({ description: 'The raw URL, byte for byte' }),
  smart_link_id: Type.Integer(),
  uid_created: Type.Null(),
  datetime_created: Timestamp,
  datetime_updated: Timestamp,
  pub_id: Type.Integer(),
  exclusive_match_requested: Type.Boolean(),
  is_monetizable: Type.Boolean({
    description:
      'Whether a merchant of the network owns the link’s host, or the host that it unwraps to',
  }),
})

/** Wrapper redirects that name no known publisher (docs/spec/links-and-tags.md). */
export const UnattributedRedirects = Type.Object({
  slug: Type.String({ description: 'As the links name their publisher; empty: they name none' }),
  host: Type.String({
    description: 'Of the pages with the links; empty: the browsers do not say',
  }),
  target_host: Type.String(),
  redirects: Type.Integer(),
  last_day: Type.String({ description: 'UTC' }),
})

export const PageTagConfig = Type.Object({
  amp_config: Type.Object({ linkmate_enabled: Type.Boolean(), publisher_id: Type.Integer() }),
  page_tag: Type.Optional(
    Type.Object(
      {
        auction_url: Type.String(),
        link_url: Type.String(),
        brand: Type.String(),
        domains: Type.Array(Type.String()),
        merchants_version: Type.String({
          description: 'Changes when merchants join or leave, or change their domains',
        }),
      },
      { description: 'What our own page tag needs besides; only for `?page_tag=1`' },
    ),
  ),
})

export function toSmartLinkRecord(
  { link, article }: CreatedLinkRow,
  linkUrl: string,
): SmartLinkRecord {
  return {
    smart_link_id: link.smart_link_id,
    auction_id: link.auction_id,
    smart_link_url: smartLinkUrl(linkUrl, link.auction_id),
    uid_created: link.uid_created,
    datetime_created: formatTimestamp(link.datetime_created),
    pub_id: link.pub_id,
    url: link.url ?? '',
    exclusive_match_requested: link.is_exclusive,
    encoded_auction_id: encodeBase62(link.auction_id),
    short_link_url: shortLinkUrl(linkUrl, link.auction_id),
    article: {
      article_id: article.article_id,
      uid: article.uid,
      pub_id: article.pub_id,
      url: article.url,
      publication_date: formatTimestamp(article.publication_date ?? article.datetime_created),
      datetime_created: formatTimestamp(article.datetime_created),
      datetime_updated: formatTimestamp(article.datetime_updated),
      name: article.name,
    },
  }
}

export function toRetrievedLink(row: RetrievedLinkRow): Static<typeof RetrievedLink> {
  return {
    auction_id: row.auction_id,
    url: row.url,
    smart_link_id: row.smart_link_id,
    uid_created: null,
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
    pub_id: row.pub_id,
    exclusive_match_requested: row.is_exclusive,
    is_monetizable: row.is_monetizable,
  }
}
