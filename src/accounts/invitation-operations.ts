/** Invitations of an organization: list, create, withdraw. */

import { hash, randomBytes } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { ApiError, badRequest, notFound } from '../platform/errors/api-errors.ts'
import { orNull, smallId, Time } from '../platform/http/field-types.ts'
import type { Mail } from '../platform/net/mail.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { cursorId, pageOf } from './id-pages.ts'
import { expiryOf, INVITATION_DAYS, INVITATIONS_MAX, stateOf } from './invitation.ts'
import { invitationMail } from './invitation-mail.ts'
import {
  countInvitations,
  type InvitationRow,
  insertInvitation,
  listInvitations,
  lockInvitation,
  lockInvitations,
  setInvitationEnd,
  withdrawEarlier,
} from './invitation-store.ts'
import { roleIn } from './member-operations.ts'
import { findOrganizationName, lockMember } from './member-store.ts'
import { action, type Call, list, type Operation } from './operation.ts'
import { ORGANIZATION_PATHS, type OrganizationPath, paramsOf } from './organization-path.ts'
import { type Organization, ROLES, type Role } from './permission.ts'
import { findUserByEmail } from './store.ts'
import { EMAIL_LENGTH_MAX, userFaults } from './user.ts'

const TOKEN_BYTES = 32

export interface InvitationDeps {
  readonly baseUrl: string
  /** Stores mail to be sent after the transaction; null where the service sends none. */
  readonly queueMail: ((tx: Db, mail: Mail) => Promise<unknown>) | null
}

const INVITATION = {
  invitation_id: Type.Integer(),
  email: Type.String(),
  role: Type.Enum([...ROLES]),
  invited_by: orNull(Type.Integer(), 'The `uid` of the inviter; null: the operator'),
  datetime_created: Time,
  datetime_updated: Time,
  datetime_expires: Time,
}
export const InvitationRecord = Type.Object({
  ...INVITATION,
  state: Type.Enum(['open', 'expired']),
})
export const CreatedInvitation = Type.Object({
  ...INVITATION,
  accept_url: orNull(
    Type.String(),
    'The page where the invited person accepts, to pass on. Shown this once: null where the same ' +
      '`Idempotency-Key` is sent again.',
  ),
  is_mailed: Type.Boolean({ description: 'Whether the link is sent by e-mail too' }),
})

export function invitationOperations(deps: InvitationDeps): Operation[] {
  return ORGANIZATION_PATHS.flatMap((path) => [
    listInvitationsOf(path),
    createInvitationOf(path, deps),
    deleteInvitationOf(path),
  ])
}

const listInvitationsOf = (path: OrganizationPath) =>
  list({
    id: `list${path.noun}Invitations`,
    tag: path.tag,
    path: `${path.base}/invitations/`,
    summary: 'Invitations that nobody has accepted yet',
    permission: 'members.write',
    params: paramsOf(path, {}),
    entry: InvitationRecord,
    run: async ({ db, organization, now, query }) => {
      const wanted = { organization, before: cursorId(query), limit: query.limit + 1 }
      const state = (row: InvitationRow) => (stateOf(row, now) === 'open' ? 'open' : 'expired')
      return pageOf(await listInvitations(db, wanted), query.limit, {
        idOf: ({ invitation_id: id }) => id,
        toEntry: (row) => ({ ...toInvitation(row), state: state(row) }) as const,
      })
    },
  })

export const createInvitationOf = (path: OrganizationPath, deps: InvitationDeps) =>
  action({
    id: `invite${path.noun}Member`,
    tag: path.tag,
    method: 'POST',
    path: `${path.base}/invitations/`,
    summary: 'Invite somebody by e-mail address',
    description:
      `The link works once, for ${INVITATION_DAYS} days. It is sent by e-mail where the service ` +
      'sends mail. A new invitation to the same address replaces the earlier one.',
    permission: 'members.write',
    status: 201,
    secretFields: ['accept_url'],
    params: paramsOf(path, {}),
    body: Type.Object({
      email: Type.String({ maxLength: EMAIL_LENGTH_MAX }),
      role: roleIn(path.kind),
    }),
    entry: CreatedInvitation,
    run: async (call) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const { email, role } = call.body
      const row = await invite(call, { email, role, token })
      const accept_url = `${deps.baseUrl}/dashboard/invitations/${token}/`
      if (deps.queueMail !== null) {
        const name = (await findOrganizationName(call.db, call.organization)) ?? ''
        await deps.queueMail(call.db, invitationMail({ email, role, name, url: accept_url }))
      }
      return [{ ...toInvitation(row), accept_url, is_mailed: deps.queueMail !== null }]
    },
  })

async function invite(
  { db: tx, organization, caller, now, audit }: Call<unknown, unknown, unknown>,
  wanted: { email: string; role: Role; token: string },
): Promise<InvitationRow> {
  const { email, role } = wanted
  const faults = await userFaults({ email })
  if (faults.length > 0) throw badRequest(faults)
  await lockInvitations(tx, organization)
  await refuseMember(tx, organization, email)
  if ((await countInvitations(tx, { organization, now })) >= INVITATIONS_MAX) {
    throw new ApiError('wrongState', {
      message: `${INVITATIONS_MAX} invitations are open or from the last 24 hours; invite later`,
    })
  }
  await withdrawEarlier(tx, { organization, email, now })
  const row = await insertInvitation(tx, {
    ...{ organization, email, role, now },
    tokenHash: hashToken(wanted.token),
    invitedBy: caller.uid,
    expiresAt: expiryOf(now),
  })
  const target = `invitation:${row.invitation_id}`
  await audit({ action: 'invitation.create', target, after: { email, role } })
  return row
}

/** Only of members of one's own organization does an answer say that they have an account. */
async function refuseMember(tx: Db, organization: Organization, email: string): Promise<void> {
  const user = await findUserByEmail(tx, email)
  if (user === null) return
  const { member } = await lockMember(tx, { organization, uid: user.uid })
  if (member === null) return
  throw new ApiError('wrongState', {
    message: `${member.email} is a member already, with the role ${member.role}`,
  })
}

const deleteInvitationOf = (path: OrganizationPath) =>
  action({
    id: `delete${path.noun}Invitation`,
    tag: path.tag,
    method: 'DELETE',
    path: `${path.base}/invitations/:invitation_id/`,
    summary: 'Withdraw an invitation; its link stops working',
    permission: 'members.write',
    params: paramsOf(path, { invitation_id: smallId }),
    entry: Type.Object({}),
    run: async ({ db: tx, organization, params: { invitation_id: id }, now, audit }) => {
      const row = await lockInvitation(tx, { organization, id })
      if (row === null || row.datetime_withdrawn !== null) throw notFound(`No invitation ${id}`)
      if (row.datetime_accepted !== null) {
        throw new ApiError('wrongState', {
          message: 'The invitation was accepted; remove the member instead',
        })
      }
      await setInvitationEnd(tx, { id, state: 'withdrawn', now })
      const before = { email: row.email, role: row.role }
      await audit({ action: 'invitation.delete', target: `invitation:${id}`, before })
      return []
    },
  })

export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

export function toInvitation(row: InvitationRow) {
  return {
    invitation_id: row.invitation_id,
    email: row.email,
    role: row.role,
    invited_by: row.invited_by,
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
    datetime_expires: formatTimestamp(row.datetime_expires),
  } satisfies Omit<Static<typeof InvitationRecord>, 'state'>
}
