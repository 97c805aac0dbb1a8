/** Users as the operator sees them: list, create, change, suspend. */
import { randomBytes } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { changeUser, createUser as insertNewUser } from '../accounts/create-account.ts'
import { requireMatch } from '../accounts/etag.ts'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { deleteMembership, setMembership, toOrganization } from '../accounts/membership-store.ts'
import { action, type Call, list, type Operation } from '../accounts/operation.ts'
import { PASSWORD_LENGTH_MAX } from '../accounts/password.ts'
import { NETWORK, NETWORK_ROLES, ROLES } from '../accounts/permission.ts'
import { OrganizationRecord } from '../accounts/schema.ts'
import { EMAIL_LENGTH_MAX } from '../accounts/user.ts'
import { ApiError, notFound } from '../platform/errors/api-errors.ts'
import { orNull, Time, TimeOrNull } from '../platform/http/field-types.ts'
import { canBeSmallId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { requireOtherState, suspendAction } from './suspension.ts'
import {
  findUserDetail,
  isOtherAdmin,
  listUserDetails,
  lockUser,
  networkRole,
  setUserName,
  setUserSuspended,
  type UserDetail,
} from './user-store.ts'

const PATH = '/api/v1/network/users/'
const ONE = `${PATH}:uid/`
const NAME_LENGTH_MAX = 255
/** Of a password that nobody knows: the user sets an own one by a reset link. */
const RANDOM_PASSWORD_BYTES = 32

const UserParams = Type.Object({ uid: Type.Integer() })

const NetworkRole = orNull(Type.Enum([...NETWORK_ROLES]), 'Role in the network itself; null: none')

const UserRecord = Type.Object({
  uid: Type.Integer(),
  email: Type.String(),
  name: Type.String(),
  network_role: NetworkRole,
  memberships: Type.Array(
    Type.Object({ organization: OrganizationRecord, role: Type.Enum([...ROLES]) }),
  ),
  is_suspended: Type.Boolean({ description: 'Whether sign-in and all API keys are refused' }),
  datetime_created: Time,
  datetime_updated: Time,
})
type UserRecord = Static<typeof UserRecord>

export const ListedUser = Type.Object({
  ...UserRecord.properties,
  datetime_last_active: TimeOrNull,
})

const email = Type.String({ maxLength: EMAIL_LENGTH_MAX })
const password = Type.String({
  maxLength: PASSWORD_LENGTH_MAX,
  description: 'At least 10 characters, and none of the common ones',
})
const name = Type.String({ maxLength: NAME_LENGTH_MAX })

export const NewUserBody = Type.Object({
  email,
  password: Type.Optional(password),
  name: Type.Optional(name),
  network_role: Type.Optional(NetworkRole),
})
export const UserChangesBody = Type.Object({
  email: Type.Optional(email),
  password: Type.Optional(password),
  name: Type.Optional(name),
  network_role: Type.Optional(NetworkRole),
  is_suspended: Type.Optional(Type.Boolean({ description: 'As by `suspend/` and `resume/`' })),
})

const listUsers = list({
  id: 'listUsers',
  tag: 'network',
  path: PATH,
  summary: 'List users with their roles and last activity',
  description: 'The last activity is the last use of an API key or of a session that is not over.',
  permission: 'network.read',
  entry: ListedUser,
  run: async ({ db, query }) => {
    const rows = await listUserDetails(db, { after: cursorId(query), limit: query.limit })
    return pageOf(rows, query.limit, {
      idOf: ({ uid }) => uid,
      toEntry: (row) => ({
        ...toRecord(row),
        datetime_last_active: formatTimestampOrNull(row.last_active),
      }),
    })
  },
})

const readUser = action({
  id: 'readUser',
  tag: 'network',
  method: 'GET',
  path: ONE,
  summary: 'A user with its roles',
  permission: 'network.read',
  hasEtag: true,
  params: UserParams,
  entry: UserRecord,
  run: async ({ db, params }) => [await requireRecord(db, params.uid)],
})

export const createUser = action({
  id: 'createUser',
  tag: 'network',
  method: 'POST',
  path: PATH,
  summary: 'Create a user',
  description:
    'Without a password the user cannot sign in before setting one by a reset link. To invite ' +
    'somebody into an organization, send an invitation instead.',
  permission: 'network.write',
  status: 201,
  hasEtag: true,
  body: NewUserBody,
  entry: UserRecord,
  run: async ({ db, body, audit }) => {
    const given = body.password ?? randomBytes(RANDOM_PASSWORD_BYTES).toString('base64url')
    const { uid } = await insertNewUser(db, { ...body, password: given, isAdmin: false })
    if (body.name !== undefined) await setUserName(db, uid, body.name)
    if (body.network_role) {
      await setMembership(db, { uid, organization: NETWORK, role: body.network_role })
    }
    const after = await requireRecord(db, uid)
    await audit({ action: 'user.create', target: targetOf(uid), after })
    return [after]
  },
})

export const updateUser = action({
  id: 'updateUser',
  tag: 'network',
  method: 'PATCH',
  path: ONE,
  summary: 'Change a user',
  description:
    'A new password ends the sessions of the user; API keys keep working. The last administrator ' +
    'can neither lose that role nor be suspended (409).',
  permission: 'network.write',
  hasEtag: true,
  params: UserParams,
  body: UserChangesBody,
  entry: UserRecord,
  run: async ({ db, params, body, ifMatch, audit }) => {
    const { uid } = params
    const before = await lockedRecord(db, uid)
    requireMatch(ifMatch, before)
    const { network_role: role = before.network_role, name: newName } = body
    const { is_suspended: isSuspended = before.is_suspended } = body
    const isUsableAdmin = role === 'admin' && !isSuspended
    if (isAdminIn(before) && !isUsableAdmin) await requireOtherAdmin(db, uid)
    await changeUser(db, { uid, email: body.email, password: body.password })
    if (newName !== undefined) await setUserName(db, uid, newName)
    if (role === null) await deleteMembership(db, { uid, organization: NETWORK })
    else if (role !== before.network_role) {
      await setMembership(db, { uid, organization: NETWORK, role })
    }
    if (isSuspended !== before.is_suspended) await setUserSuspended(db, uid, isSuspended)
    const after = await requireRecord(db, uid)
    const password = body.password === undefined ? {} : { password_changed: true }
    await audit({
      action: 'user.update',
      target: targetOf(uid),
      before,
      after: { ...after, ...password },
    })
    return [after]
  },
})

const suspendUser = action({
  id: 'suspendUser',
  tag: 'network',
  method: 'POST',
  path: `${ONE}suspend/`,
  summary: 'Suspend a user: no sign-in, and no API key works',
  description: 'All sessions end. The last administrator cannot be suspended (409).',
  permission: 'network.write',
  hasEtag: true,
  params: UserParams,
  entry: UserRecord,
  run: (call) => setSuspended(call, true),
})

const resumeUser = action({
  id: 'resumeUser',
  tag: 'network',
  method: 'POST',
  path: `${ONE}resume/`,
  summary: 'End the suspension of a user',
  permission: 'network.write',
  hasEtag: true,
  params: UserParams,
  entry: UserRecord,
  run: (call) => setSuspended(call, false),
})

export const userOperations = (): Operation[] => [
  listUsers,
  readUser,
  createUser,
  updateUser,
  suspendUser,
  resumeUser,
]

async function setSuspended(
  { db, params, ifMatch, audit }: Call<Static<typeof UserParams>, unknown, unknown>,
  to: boolean,
): Promise<UserRecord[]> {
  const { uid } = params
  const before = await lockedRecord(db, uid)
  requireMatch(ifMatch, before)
  requireOtherState(before, to)
  if (to && isAdminIn(before)) await requireOtherAdmin(db, uid)
  await setUserSuspended(db, uid, to)
  const after = await requireRecord(db, uid)
  await audit({ action: suspendAction('user', to), target: targetOf(uid), before, after })
  return [after]
}

const isAdminIn = (user: UserRecord): boolean => user.network_role === 'admin' && !user.is_suspended

async function requireOtherAdmin(db: Db, uid: number): Promise<void> {
  if (await isOtherAdmin(db, uid)) return
  const message = 'The network would have no administrator left: make another user one first'
  throw new ApiError('wrongState', { message })
}

async function lockedRecord(tx: Db, uid: number): Promise<UserRecord> {
  if (canBeSmallId(uid)) await lockUser(tx, uid)
  return requireRecord(tx, uid)
}

async function requireRecord(db: Db, uid: number): Promise<UserRecord> {
  const user = canBeSmallId(uid) ? await findUserDetail(db, uid) : null
  if (user === null) throw notFound(`No user ${uid}`)
  return toRecord(user)
}

const targetOf = (uid: number) => `user:${uid}`

function toRecord(row: UserDetail): UserRecord {
  return {
    uid: row.uid,
    email: row.email,
    name: row.name,
    network_role: networkRole(row) as UserRecord['network_role'],
    memberships: row.memberships.map(({ role, ...columns }) => ({
      organization: toOrganization(columns),
      role,
    })),
    is_suspended: row.is_suspended,
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
  }
}
