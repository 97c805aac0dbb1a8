/** Every operation on the people of an organization. */
import { auditOperations } from './audit-operations.ts'
import { type InvitationDeps, invitationOperations } from './invitation-operations.ts'
import { keyOperations } from './key-operations.ts'
import { memberOperations } from './member-operations.ts'
import type { Operation } from './operation.ts'

export function peopleOperations(deps: InvitationDeps): Operation[] {
  return [
    ...memberOperations(),
    ...invitationOperations(deps),
    ...keyOperations(),
    ...auditOperations(),
  ]
}
