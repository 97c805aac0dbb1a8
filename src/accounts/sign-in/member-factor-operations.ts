/**
 * What owners and the operator do for a user who cannot sign in any more: reset second factors,
 * hand over a link for a new password.
 */
import Type, { type Static } from 'typebox'
import { ApiError, notFound } from '../../platform/errors/api-errors.ts'
import { smallId, Time } from '../../platform/http/field-types.ts'
import type { Mail } from '../../platform/net/mail.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { formatTimestamp } from '../../platform/time/timestamp.ts'
import { findOrganizationName, lockMember } from '../member-store.ts'
import { isMember } from '../membership-store.ts'
import { action, type Call, type Operation } from '../operation.ts'
import { ORGANIZATION_PATHS, type OrganizationPath, paramsOf } from '../organization-path.ts'
import { NETWORK } from '../permission.ts'
import { deleteSessionsOf } from '../session-store.ts'
import { findUser, type UserRow } from '../store.ts'
import { deleteFactors } from './factor-store.ts'
import { makeResetLink } from './password-reset.ts'

export interface ResetDeps {
  readonly baseUrl: string
  readonly isPasswordOff: boolean
  /** Null: no mail is sent. */
  readonly queueMail: ((tx: Db, mail: Mail) => Promise<unknown>) | null
}

export function resetOperations(deps: ResetDeps): Operation[] {
  return [
    ...ORGANIZATION_PATHS.map((path) => resetMemberFactors(path, deps)),
    resetUserFactors(deps),
    makeUserResetLink(deps),
  ]
}

const Removed = Type.Object({
  uid: Type.Integer(),
  email: Type.String(),
  removed: Type.Object({
    totp: Type.Boolean(),
    passkeys: Type.Integer(),
    recovery_codes: Type.Integer(),
  }),
  is_mailed: Type.Boolean({ description: 'Whether the user is informed by mail' }),
})

const RESET_TEXT = 'The user signs in with the password alone again. All sessions of the user end.'

const resetMemberFactors = (path: OrganizationPath, deps: ResetDeps) =>
  action({
    ...{ id: `reset${path.noun}MemberFactors`, tag: path.tag, method: 'DELETE' },
    path: `${path.base}/members/:uid/second_factors/`,
    summary: 'Remove the lost second factors of a member',
    description:
      path.kind === 'network'
        ? RESET_TEXT
        : `${RESET_TEXT} Refused with 409 for somebody with a role in the network.`,
    permission: 'members.write',
    params: paramsOf(path, { uid: smallId }),
    entry: Removed,
    run: async (call) => {
      const { uid } = call.params
      const { db, organization } = call
      const { member } = await lockMember(db, { organization, uid })
      if (member === null) throw notFound('No such member')
      // Otherwise somebody who invites an admin into an organization could weaken the network.
      const isOfNetwork = path.kind !== 'network' && (await isMember(db, { uid, of: NETWORK }))
      if (isOfNetwork) throw new ApiError('wrongState', { message: OF_NETWORK })
      return [await resetFactors(call, deps)]
    },
  })

const OF_NETWORK = 'This user has a role in the network: an admin of the network must do it'

const UserParams = Type.Object({ uid: smallId })

/** Also `souk user reset-second-factor`. */
export const resetUserFactors = (deps: ResetDeps) =>
  action({
    ...{ id: 'resetUserFactors', tag: 'network', method: 'DELETE' },
    path: '/api/v1/network/users/:uid/second_factors/',
    summary: 'Remove the lost second factors of a user',
    description: RESET_TEXT,
    permission: 'network.write',
    params: UserParams,
    entry: Removed,
    run: async (call) => [await resetFactors(call, deps)],
  })

async function resetFactors(
  { db, organization, params, audit }: Call<Static<typeof UserParams>, unknown, unknown>,
  { baseUrl, queueMail }: ResetDeps,
): Promise<Static<typeof Removed>> {
  const { uid, email } = await requireUser(db, params.uid)
  const removed = await deleteFactors(db, uid)
  await deleteSessionsOf(db, uid)
  await audit({
    ...{ action: 'user.reset_second_factors', target: `user:${uid}` },
    ...{ before: { ...removed } },
  })
  const by = (await findOrganizationName(db, organization)) ?? ''
  await queueMail?.(db, { to: email, ...resetNotice({ by, baseUrl }) })
  return { uid, email, removed: { ...removed }, is_mailed: queueMail !== null }
}

function resetNotice({ by, baseUrl }: { by: string; baseUrl: string }) {
  const name = by.replaceAll(/\s+/g, ' ').trim()
  return {
    subject: 'Your second factors were removed',
    text: `An administrator of ${name} has removed the second factors of your account at
${baseUrl}. You sign in with your password alone now, and all your sessions have ended.

Sign in and set up a second factor again. If you did not ask for this, change your password and
inform the administrator.
`,
  }
}

/** Also `souk user reset-password`. */
export const makeUserResetLink = ({ baseUrl, isPasswordOff }: ResetDeps) =>
  action({
    ...{ id: 'makeUserResetLink', tag: 'network', method: 'POST' },
    path: '/api/v1/network/users/:uid/password_reset/',
    summary: 'Get a link that sets a new password, to hand over',
    description:
      'The link works once, within an hour; second factors stay. Refused with 409 for a suspended ' +
      'user, and while three links are valid.',
    permission: 'network.write',
    params: UserParams,
    entry: Type.Object({
      uid: Type.Integer(),
      email: Type.String(),
      reset_url: Type.String({ description: 'Shown this once' }),
      datetime_expires: Time,
    }),
    run: async ({ db, params, now, audit }) => {
      const { uid, email } = await requireUser(db, params.uid)
      const link = isPasswordOff ? null : await makeResetLink(db, { uid, baseUrl, now })
      const message = isPasswordOff ? PASSWORD_OFF : NO_LINK
      if (link === null) throw new ApiError('wrongState', { message })
      await audit({ action: 'user.make_reset_link', target: `user:${uid}` })
      const { url, expiresAt } = link
      return [{ uid, email, reset_url: url, datetime_expires: formatTimestamp(expiresAt) }]
    },
  })

const PASSWORD_OFF = 'This service signs in through an identity provider, not with passwords'
const NO_LINK = 'The user is suspended, or has three valid links'

async function requireUser(db: Db, uid: number): Promise<UserRow> {
  const user = await findUser(db, uid)
  if (user === null) throw notFound(`No user ${uid}`)
  return user
}
