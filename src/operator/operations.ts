/** All operations of the operator: `/api/v1/network/`. */
import type { Operation } from '../accounts/operation.ts'
import { networkMerchantOperations } from './merchant-operations.ts'
import { publisherOperations } from './publisher-operations.ts'
import { userOperations } from './user-operations.ts'

export const networkOperations = (): Operation[] => [
  ...publisherOperations(),
  ...networkMerchantOperations(),
  ...userOperations(),
]
