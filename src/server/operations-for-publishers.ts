/** The operations of a publisher (docs/spec/management.md#publishers). */
import type { Operation } from '../accounts/operation.ts'
import { publisherOperations } from '../accounts/publisher-operations.ts'
import { isOwnPage as isOnOwnDomain } from '../auction/market.ts'
import { productOperations } from '../matching/product-operations.ts'
import type { Node } from '../node/node.ts'
import { breakdownOperations } from '../stats/breakdown-operations.ts'

export function operationsForPublishers({ config, edge, outlooks, book }: Node): Operation[] {
  const { linkUrl } = config
  const isOwnPage: Parameters<typeof productOperations>[0]['isOwnPage'] = (listing) =>
    isOnOwnDomain(edge.market, listing)
  return [
    ...publisherOperations,
    ...breakdownOperations,
    ...productOperations({ linkUrl, outlooks, book, isOwnPage }),
  ]
}
