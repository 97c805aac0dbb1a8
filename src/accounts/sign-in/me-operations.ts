/** The signed-in user: memberships and permissions, name, password and sessions. */
import Type, { type Static } from 'typebox'
import { badRequest, notFound } from '../../platform/errors/api-errors.ts'
import { orNull, smallId, Time } from '../../platform/http/field-types.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { formatTimestamp } from '../../platform/time/timestamp.ts'
import { type Caller, permissionsIn } from '../caller.ts'
import { cursorId, pageOf } from '../id-pages.ts'
import { listOrganizationNames, toOrganization } from '../membership-store.ts'
import { action, list, type Operation } from '../operation.ts'
import { hashPassword, PASSWORD_LENGTH_MAX } from '../password.ts'
import { PERMISSIONS, ROLES } from '../permission.ts'
import { OrganizationRecord } from '../schema.ts'
import { requireOwnSession } from '../session.ts'
import { deleteSessionOf, listSessions, type SessionRow } from '../session-store.ts'
import { findUser, type UserRow, updateUser } from '../store.ts'
import { userFaults } from '../user.ts'
import { readFactors } from './factor-store.ts'
import type { LoginLimits } from './login-limits.ts'
import { deleteResetsOf } from './password-reset-store.ts'
import { findByPassword } from './sign-in.ts'

const NAME_LENGTH_MAX = 100

export const MeRecord = Type.Object({
  uid: Type.Integer(),
  email: Type.String(),
  name: Type.String(),
  memberships: Type.Array(
    Type.Object({
      organization: OrganizationRecord,
      name: Type.String({ description: 'Of the organization' }),
      role: Type.Enum([...ROLES]),
      permissions: Type.Array(Type.Enum([...PERMISSIONS])),
    }),
  ),
  second_factors: Type.Object({
    totp: Type.Boolean({ description: 'Whether an authenticator app is confirmed' }),
    passkeys: Type.Integer(),
    recovery_codes: Type.Integer({ description: 'How many are left' }),
  }),
  csrf_token: orNull(
    Type.String(),
    'For the header `X-Souk-Csrf` of every change in this session; null for an API key',
  ),
  base_url: Type.String({ description: 'The address of this service' }),
  brand: Type.String({ description: 'The word before `-API-KEY`' }),
  datetime_created: Time,
  datetime_updated: Time,
})

const MeChanges = Type.Object({
  name: Type.Optional(Type.String({ maxLength: NAME_LENGTH_MAX })),
  password: Type.Optional(
    Type.String({ maxLength: PASSWORD_LENGTH_MAX, description: 'Ends all other sessions' }),
  ),
  current_password: Type.Optional(
    Type.String({ maxLength: PASSWORD_LENGTH_MAX, description: 'Required with `password`' }),
  ),
})

export const SessionRecord = Type.Object({
  session_id: Type.Integer(),
  user_agent: Type.String({ description: 'The browser or program that signed in' }),
  address: Type.String({ description: 'The IP address that signed in' }),
  is_current: Type.Boolean({ description: 'Whether it is the session of this call' }),
  datetime_created: Time,
  datetime_updated: Time,
  datetime_last_used: Type.String({ format: 'date-time', description: 'To about a minute' }),
  datetime_expires: Time,
})

export interface MeDeps {
  readonly baseUrl: string
  readonly brand: string
  /** Whether users sign in through an identity provider only. */
  readonly isPasswordOff: boolean
  readonly limits: LoginLimits
}

export function meOperations(deps: MeDeps): Operation[] {
  return [readMe(deps), updateMe(deps), LIST_SESSIONS, END_SESSION]
}

const readMe = (deps: MeDeps) =>
  action({
    ...{ id: 'readMe', tag: 'account', method: 'GET', path: '/api/v1/me/' },
    summary: 'Who is signed in, and what they may do where',
    permission: null,
    entry: MeRecord,
    run: async ({ db, caller }) => [await describeMe(db, caller, deps)],
  })

const updateMe = (deps: MeDeps) =>
  action({
    ...{ id: 'updateMe', tag: 'account', method: 'PATCH', path: '/api/v1/me/' },
    summary: 'Change your name or password',
    description: 'A new password needs the current one and ends all other sessions.',
    permission: null,
    body: MeChanges,
    entry: MeRecord,
    run: async (call) => {
      const { db, caller, body, audit } = call
      const { uid, sessionId } = requireOwnSession(caller)
      const before = await requireUser(db, uid)
      const passwordHash = await newPasswordHash(deps, { ...call, user: before })
      const changes = { name: body.name?.trim(), passwordHash, sessionId }
      const after = await updateUser(db, { uid, email: null, isAdmin: null, ...changes })
      if (passwordHash !== null) await deleteResetsOf(db, uid)
      await audit({
        ...{ action: 'user.update', target: `user:${uid}` },
        before: { name: before.name },
        after: { name: after?.name, ...(passwordHash === null ? {} : { password: 'changed' }) },
      })
      return [await describeMe(db, caller, deps)]
    },
  })

/** The hash of the wanted password; null if none is. Throws unless the current one is right. */
async function newPasswordHash(
  { limits, isPasswordOff }: MeDeps,
  {
    db,
    body,
    address,
    user,
  }: {
    readonly db: Db
    readonly body: Static<typeof MeChanges>
    readonly address: string | null
    readonly user: UserRow
  },
): Promise<string | null> {
  const { password, current_password: current } = body
  if (password === undefined) return null
  if (isPasswordOff) throw badRequest([{ field: 'password', rule: PASSWORD_OFF_RULE }])
  if (current === undefined) throw badRequest([{ field: 'current_password', rule: CURRENT_RULE }])
  const faults = await userFaults({ password })
  if (faults.length > 0) throw badRequest(faults)
  const { email } = user
  const found = await limits.run({ address: address ?? '', email }, () =>
    findByPassword(db, { email, password: current }),
  )
  if (found === null) throw badRequest([{ field: 'current_password', rule: 'is wrong' }])
  return hashPassword(password)
}

const CURRENT_RULE = 'is required to set a new password'
const PASSWORD_OFF_RULE = 'cannot be set: this service signs in through an identity provider'

const LIST_SESSIONS = list({
  ...{ id: 'listSessions', tag: 'account', path: '/api/v1/session/all/' },
  summary: 'List your sessions, newest first',
  permission: null,
  entry: SessionRecord,
  run: async ({ db, caller, now, query }) => {
    const { uid, sessionId } = requireOwnSession(caller)
    const wanted = { uid, now, before: cursorId(query), limit: query.limit + 1 }
    return pageOf(await listSessions(db, wanted), query.limit, {
      idOf: ({ session_id: id }) => id,
      toEntry: (row) => toSessionRecord(row, sessionId),
    })
  },
})

const END_SESSION = action({
  ...{ id: 'endSession', tag: 'account', method: 'DELETE' },
  path: '/api/v1/session/all/:session_id/',
  summary: 'End one of your sessions',
  permission: null,
  params: Type.Object({ session_id: smallId }),
  entry: Type.Object({}),
  run: async ({ db, caller, params, audit }) => {
    const { uid } = requireOwnSession(caller)
    const { session_id: sessionId } = params
    if (!(await deleteSessionOf(db, { uid, sessionId }))) throw notFound('No such session of yours')
    await audit({ action: 'session.end', target: `session:${sessionId}` })
    return []
  },
})

async function requireUser(db: Db, uid: number | null): Promise<UserRow> {
  const user = uid === null ? null : await findUser(db, uid)
  if (user === null) throw notFound('Nobody is signed in')
  return user
}

/** The user of a call, as `GET me/` and a sign-in answer it. */
export async function describeMe(
  db: Db,
  caller: Caller,
  { baseUrl, brand }: Pick<MeDeps, 'baseUrl' | 'brand'>,
): Promise<Static<typeof MeRecord>> {
  const { uid, email, name, ...user } = await requireUser(db, caller.uid)
  return {
    ...{ uid, email, name },
    memberships: await describeMemberships(db, caller),
    second_factors: { ...(await readFactors(db, uid)) },
    csrf_token: caller.through.kind === 'session' ? caller.through.csrfToken : null,
    base_url: baseUrl,
    brand,
    datetime_created: formatTimestamp(user.datetime_created),
    datetime_updated: formatTimestamp(user.datetime_updated),
  }
}

/** With the permissions that the caller has there: a key may have fewer than its user. */
async function describeMemberships(db: Db, caller: Caller) {
  const names = await listOrganizationNames(db, caller.uid ?? 0)
  return names.flatMap(({ name, role, ...columns }) => {
    const organization = toOrganization(columns)
    const permissions = permissionsIn(caller, organization)
    if (permissions === null) return []
    return [{ organization, name, role, permissions: [...permissions] }]
  })
}

function toSessionRecord(row: SessionRow, current: number): Static<typeof SessionRecord> {
  const { session_id, user_agent, address } = row
  const used = formatTimestamp(row.datetime_last_used)
  return {
    ...{ session_id, user_agent, address, is_current: session_id === current },
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: used,
    datetime_last_used: used,
    datetime_expires: formatTimestamp(row.expires_at),
  }
}
