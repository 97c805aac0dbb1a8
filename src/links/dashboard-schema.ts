/** Wire shapes of the dashboard's list of smart links. */
import Type, { type Static } from 'typebox'
import { TextOrNull, Time } from '../platform/http/field-types.ts'
import { NextPage, PageCursor } from '../platform/http/page.ts'
import { MAX_URL_CHARACTERS } from '../platform/net/url.ts'
import { UnattributedRedirects } from './schema.ts'

export const LinkQuery = Type.Object({
  cursor: PageCursor,
  search: Type.Optional(
    Type.String({
      maxLength: MAX_URL_CHARACTERS,
      description:
        'Only links with this text in their address, or in the address or name of their ' +
        'article; or the one with this auction id or smart link address',
    }),
  ),
})

const ListedLink = Type.Object({
  smart_link_id: Type.Integer(),
  auction_id: Type.String(),
  smart_link_url: Type.String(),
  url: TextOrNull,
  article_name: Type.String(),
  article_url: Type.String(),
  exclusive_match_requested: Type.Boolean(),
  source: Type.String({ description: 'api, linkmate, wrapper' }),
  state: Type.String({ description: 'active, disabled' }),
  datetime_created: Time,
})

export const LinkPage = Type.Object({
  links: Type.Array(ListedLink),
  /** On the first page only. */
  unattributed: Type.Array(UnattributedRedirects),
  next: NextPage,
})
export type LinkPage = Static<typeof LinkPage>
