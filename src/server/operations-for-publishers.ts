/** The operations of a publisher (docs/spec/management.md#publishers). */
import type { Operation } from '../accounts/operation.ts'
import { publisherOperations } from '../accounts/publisher-operations.ts'
import { isOwnPage as isOnOwnDomain } from '../auction/market.ts'
import { tagCheckOperations } from '../check-page/tag-check-operations.ts'
import { productOperations } from '../matching/product-operations.ts'
import type { Node } from '../node/node.ts'
import { deliveryOperations } from '../reports/delivery-operations.ts'
import { breakdownOperations } from '../stats/breakdown-operations.ts'
import { linkAuctionOperations } from '../stats/link-auction-operations.ts'
import { linkFinderOperations } from '../stats/link-finder-operations.ts'
import { linkOperations } from '../stats/link-operations.ts'
import { tagStatusOperations } from '../stats/tag-status-operations.ts'
import { alertOperations } from '../webhooks/alert-operations.ts'
import { noteDestination } from './edge-routes.ts'

export function operationsForPublishers(node: Node): Operation[] {
  const { config, edge, estimates, book } = node
  const { linkUrl } = config
  const isOwnPage: Parameters<typeof productOperations>[0]['isOwnPage'] = (listing) =>
    isOnOwnDomain(edge.market, listing)
  return [
    ...publisherOperations,
    ...breakdownOperations,
    ...linkOperations({
      bases: config,
      onChanged: (link) => noteDestination(node, { ...link, is_keyless: false }),
    }),
    ...linkAuctionOperations,
    ...linkFinderOperations({
      ...{ bases: config, estimates, book, isOwnPage, nextId: () => node.ids.next() },
      onLinks: (links) => {
        for (const link of links) noteDestination(node, link)
      },
    }),
    ...tagStatusOperations,
    ...tagCheckOperations,
    ...alertOperations,
    ...deliveryOperations,
    ...productOperations({ linkUrl, estimates, book, isOwnPage }),
  ]
}
