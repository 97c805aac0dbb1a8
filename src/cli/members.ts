/** Commands on members of organizations. */
import { createInvitationOf, type InvitationDeps } from '../accounts/invitation-operations.ts'
import { queueMail } from '../accounts/mail-store.ts'
import { addMemberOf, removeMemberOf, toMember } from '../accounts/member-operations.ts'
import { listMembers } from '../accounts/member-store.ts'
import { perform } from '../accounts/operation.ts'
import { organizationParams, pathOf } from '../accounts/organization-path.ts'
import { NETWORK, type Organization, type Role } from '../accounts/permission.ts'
import { findUserByEmail } from '../accounts/store.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { LIST_ROWS_MAX } from '../platform/postgres/sql.ts'
import { asShell } from './as-shell.ts'
import type { CommandContext } from './command.ts'
import { type OrganizationOptions, readOrganization, requireKnown } from './organization.ts'

/** Exactly one is given, see `oneOf` of the commands. */
async function open(context: CommandContext, options: OrganizationOptions) {
  const organization: Organization = readOrganization(options) ?? NETWORK
  const db = await context.database()
  await requireKnown(db, organization)
  const params = organizationParams(organization)
  return { organization, db, path: pathOf(organization.kind), params }
}

export async function addMemberCommand(
  context: CommandContext,
  options: OrganizationOptions & { readonly user: string; readonly role: Role },
) {
  const { db, path, params } = await open(context, options)
  const body = { user: options.user, role: options.role }
  const [member] = await perform(addMemberOf(path), { ...asShell(context, db), params, body })
  return member
}

export async function removeMemberCommand(
  context: CommandContext,
  options: OrganizationOptions & { readonly user: string },
) {
  const { db, path, params } = await open(context, options)
  const user = await findUserByEmail(db, options.user)
  if (user === null) throw badRequest([{ field: 'user', rule: `no user has ${options.user}` }])
  const { uid, email } = user
  await perform(removeMemberOf(path), { ...asShell(context, db), params: { ...params, uid } })
  return { uid, email }
}

export async function listMembersCommand(context: CommandContext, options: OrganizationOptions) {
  const { db, organization } = await open(context, options)
  const rows = await listMembers(db, { organization, after: null, limit: LIST_ROWS_MAX })
  return rows.map(toMember)
}

export async function inviteCommand(
  context: CommandContext,
  options: OrganizationOptions & { readonly email: string; readonly role: Role },
) {
  const { db, path, params } = await open(context, options)
  const { email, role } = options
  const { baseUrl, mail } = context.config
  const queue: InvitationDeps['queueMail'] = (tx, invitation) =>
    queueMail(tx, { ...invitation, now: context.now() })
  const deps = { baseUrl, queueMail: mail === null ? null : queue }
  const [invitation] = await perform(createInvitationOf(path, deps), {
    ...asShell(context, db),
    ...{ params, body: { email, role } },
  })
  return invitation
}
