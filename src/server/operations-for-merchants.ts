/** The operations below `/api/v1/merchants/<merch_id>/`, with the parts of the node they need. */
import type { Operation } from '../accounts/operation.ts'
import { campaignOperations } from '../campaigns/campaign-operations.ts'
import { trafficCurveOperations } from '../campaigns/traffic-curve-operations.ts'
import { feedOperations } from '../catalog/feeds/feed-operations.ts'
import { merchantOperations } from '../catalog/merchant-operations.ts'
import { feedImports } from '../jobs/feed-imports.ts'
import { knowsCountries } from '../node/config.ts'
import type { Node } from '../node/node.ts'
import { openWriters } from '../operator/money-writer.ts'
import type { IntakeDeps } from '../orders/intake.ts'
import { tagStatusOperations } from '../orders/tag-status-operations.ts'
import { invoiceOperations } from '../reports/invoice-operations.ts'
import { merchantOfferOperations } from '../reports/merchant-offer-operations.ts'
import { merchantOrderOperations } from '../reports/merchant-order-operations.ts'
import { merchantReturnOperations } from '../reports/merchant-return-operations.ts'

export function operationsForMerchants(node: Node, intake: IntakeDeps): Operation[] {
  const { config, edge, database: db } = node
  const { pricing } = config
  const campaigns = {
    overCap: () => edge.overCap,
    knowsCountries: knowsCountries(config),
    pricing,
  }
  return [
    ...merchantOperations(),
    ...campaignOperations(campaigns),
    ...trafficCurveOperations,
    ...feedOperations({ db, startImport: feedImports(node) }),
    ...tagStatusOperations,
    ...merchantOfferOperations,
    ...merchantOrderOperations(openWriters(intake)),
    ...merchantReturnOperations,
    ...invoiceOperations,
  ]
}
