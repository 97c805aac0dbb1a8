/** Schemas of the auction's query and response, for the API description. */
import Type, { type Static } from 'typebox'
import { CONSENT_DESCRIPTION, CONSENT_SOURCES, CONSENT_WORDS } from '../events/consent.ts'

export const AuctionQuery = Type.Object({
  a: Type.String({ description: 'Auction id: the number at the end of the smart link.' }),
  t: Type.Optional(Type.String({ description: 'Cache-busting; ignored.' })),
  uuid: Type.Optional(Type.String({ description: 'Page session UUID (version 4).' })),
  consent: Type.Optional(
    Type.Union(
      CONSENT_WORDS.map((word) => Type.Literal(word)),
      { description: CONSENT_DESCRIPTION },
    ),
  ),
  consent_source: Type.Optional(
    Type.Union(
      CONSENT_SOURCES.map((word) => Type.Literal(word)),
      { description: 'Who said so' },
    ),
  ),
})

export type Product = Static<typeof Product>
const Product = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  price: Type.String({ description: 'US dollars, two decimals.' }),
  url: Type.String({ description: 'For display only: never link to it.' }),
  image_url: Type.Optional(Type.String()),
  is_in_stock: Type.Boolean(),
  service_product_category_id: Type.Optional(
    Type.Integer({
      description:
        "A number of Google's product taxonomy; from 1000000000 on our own, of a path of words.",
    }),
  ),
  merchant: Type.Object({
    id: Type.Integer(),
    canonical_host: Type.String(),
    name: Type.String(),
    url: Type.String(),
  }),
})

export const AuctionEntry = Type.Object({
  auction_result: Type.Object({
    id: Type.String(),
    auction_id: Type.String(),
    redirect_url: Type.String(),
    product: Type.Optional(Product),
    tracker_urls: Type.Optional(
      Type.Object({
        impression: Type.Array(Type.String()),
        viewable_impression: Type.Array(Type.String()),
      }),
    ),
  }),
  impression_pixel_url: Type.String(),
  has_winner: Type.Boolean({ description: 'Ours: whether the product is one that is paid for.' }),
})
