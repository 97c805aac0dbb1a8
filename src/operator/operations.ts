/** All operations of the operator: `/api/v1/network/`. */
import type { Operation } from '../accounts/operation.ts'
import { runHeavyJob } from '../jobs/run-heavy-job.ts'
import type { Node } from '../node/node.ts'
import type { IntakeDeps } from '../orders/intake.ts'
import { flaggedClickOperations } from './flagged-click-operations.ts'
import { healthOperations } from './health-operations.ts'
import { heldOrderOperations } from './held-order-operations.ts'
import { jobOperations } from './job-operations.ts'
import { networkMerchantOperations } from './merchant-operations.ts'
import { openWriters } from './money-writer.ts'
import { paymentOperations } from './payment-operations.ts'
import { payoutOperations } from './payout-operations.ts'
import { publisherOperations } from './publisher-operations.ts'
import { rateOperations } from './rate-operations.ts'
import { reversalOperations } from './reversal-operations.ts'
import { settingsOperations } from './settings-operations.ts'
import { userOperations } from './user-operations.ts'

export function networkOperations(node: Node, intake: IntakeDeps): Operation[] {
  const open = openWriters(intake)
  return [
    ...publisherOperations(),
    ...networkMerchantOperations(),
    ...userOperations(),
    ...heldOrderOperations(open),
    ...paymentOperations({ open, readAgeing: () => runHeavyJob(node, 'readAgeing') }),
    ...payoutOperations({ issueStatements: () => runHeavyJob(node, 'issueStatements') }),
    ...rateOperations(open),
    ...reversalOperations(open),
    ...flaggedClickOperations,
    ...jobOperations(),
    ...healthOperations(node),
    ...settingsOperations(node.config),
  ]
}
