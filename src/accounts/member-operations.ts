/**
 * The members of a publisher, a merchant or the network: list, add, change the role, remove.
 *
 * Every organization keeps somebody who leads it: the last owner, or the last admin of the network,
 * can neither leave nor take another role.
 */
import Type, { type Static } from 'typebox'
import { ApiError, badRequest, notFound } from '../platform/errors/api-errors.ts'
import { smallId, Time } from '../platform/http/field-types.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { requireMatch, withEtag } from './etag.ts'
import { cursorId, pageOf } from './id-pages.ts'
import {
  disableKeysOf,
  listMembers,
  lockMember,
  type MemberRow,
  renameOwner,
  updateMemberRole,
} from './member-store.ts'
import { deleteMembership, setMembership } from './membership-store.ts'
import { action, type Call, list, type Operation } from './operation.ts'
import { ORGANIZATION_PATHS, type OrganizationPath, paramsOf } from './organization-path.ts'
import { leadingRole, type Organization, ROLES, rolesIn } from './permission.ts'
import { findUserByEmail } from './store.ts'
import { EMAIL_LENGTH_MAX } from './user.ts'

const MEMBER = {
  uid: Type.Integer(),
  email: Type.String(),
  name: Type.String({ description: 'Empty until the member has given one' }),
  role: Type.Enum([...ROLES]),
  is_suspended: Type.Boolean({ description: 'Cannot sign in; keys do not work' }),
  datetime_created: Time,
  datetime_updated: Time,
}
const MemberRecord = Type.Object(MEMBER)
export const ListedMember = Type.Object({
  ...MEMBER,
  etag: Type.String({ description: 'For If-Match' }),
})

/** The roles of a kind, as a field that names them where another is sent. */
export const roleIn = (kind: Organization['kind']) => Type.Enum([...rolesIn(kind)])

const HERE = { publisher: 'a publisher', merchant: 'a merchant', network: 'the network' } as const

export function memberOperations(): Operation[] {
  return ORGANIZATION_PATHS.flatMap((path) => [
    listMembersOf(path),
    updateMemberOf(path),
    removeMemberOf(path),
  ])
}

const listMembersOf = (path: OrganizationPath) =>
  list({
    id: `list${path.noun}Members`,
    tag: path.tag,
    path: `${path.base}/members/`,
    summary: `Who belongs to ${HERE[path.kind]}, and with which role`,
    permission: 'members.write',
    params: paramsOf(path, {}),
    entry: ListedMember,
    run: async ({ db, organization, query }) => {
      const wanted = { organization, after: cursorId(query), limit: query.limit + 1 }
      return pageOf(await listMembers(db, wanted), query.limit, {
        idOf: ({ membership_id: id }) => id,
        toEntry: (row) => withEtag(toMember(row)),
      })
    },
  })

const updateMemberOf = (path: OrganizationPath) =>
  action({
    id: `update${path.noun}Member`,
    tag: path.tag,
    method: 'PATCH',
    path: `${path.base}/members/:uid/`,
    summary: 'Give a member another role',
    description: `The last ${leadingRole(path.kind)} keeps the role: 409.`,
    permission: 'members.write',
    hasEtag: true,
    params: paramsOf(path, { uid: smallId }),
    body: Type.Object({ role: Type.Optional(roleIn(path.kind)) }),
    entry: MemberRecord,
    run: async (call) => {
      const { db: tx, organization, params, body } = call
      const { member, otherLeaders } = await requireMember(call)
      requireMatch(call.ifMatch, toMember(member))
      const { role = member.role } = body
      if (role === member.role) return [toMember(member)]
      if (member.role === leadingRole(organization.kind)) {
        await replaceOwner(call, otherLeaders, 'take another role')
      }
      const changed = { ...member, role, ...(await updateMemberRole(tx, member, role)) }
      await call.audit({
        ...{ action: 'member.update', target: `user:${params.uid}` },
        before: { email: member.email, role: member.role },
        after: { role },
      })
      return [toMember(changed)]
    },
  })

export const removeMemberOf = (path: OrganizationPath) =>
  action({
    id: `remove${path.noun}Member`,
    tag: path.tag,
    method: 'DELETE',
    path: `${path.base}/members/:uid/`,
    summary: 'Remove a member, or leave',
    description:
      `Every member may leave without a permission. The member's API keys for this organization ` +
      `stop working. The last ${leadingRole(path.kind)} cannot leave: 409.`,
    permission: 'members.write',
    selfParam: 'uid',
    params: paramsOf(path, { uid: smallId }),
    entry: Type.Object({}),
    run: async (call) => {
      const { db: tx, organization, params } = call
      const { member, otherLeaders } = await requireMember(call)
      requireMatch(call.ifMatch, toMember(member))
      if (member.role === leadingRole(organization.kind)) {
        await replaceOwner(call, otherLeaders, 'leave')
      }
      await deleteMembership(tx, { uid: params.uid, organization })
      const keys = await disableKeysOf(tx, { organization, uid: params.uid })
      await call.audit({
        ...{ action: 'member.remove', target: `user:${params.uid}` },
        before: { email: member.email, role: member.role },
        after: keys.length === 0 ? null : { disabled_keys: keys },
      })
      return []
    },
  })

type MemberCall = Pick<Call<{ uid: number }, unknown, unknown>, 'db' | 'organization' | 'params'>

async function requireMember({ db, organization, params: { uid } }: MemberCall) {
  const { member, otherLeaders } = await lockMember(db, { organization, uid })
  if (member === null) throw notFound(`No member ${uid}`)
  return { member, otherLeaders }
}

/** Throws if no other owner is left; else the organization's record names another owner. */
async function replaceOwner(
  { db, organization, params: { uid: from } }: MemberCall,
  otherLeaders: readonly number[],
  change: string,
): Promise<void> {
  const [to] = otherLeaders
  if (to === undefined) {
    const role = leadingRole(organization.kind)
    throw new ApiError('wrongState', {
      message: `The last ${role} cannot ${change}: first make somebody else an ${role}`,
    })
  }
  await renameOwner(db, { organization, from, to })
}

/**
 * Gives a known user a role at once. Only the operator's command calls it: an owner invites, which
 * does not reveal who has an account.
 */
export const addMemberOf = (path: OrganizationPath) =>
  action({
    id: `add${path.noun}Member`,
    tag: path.tag,
    method: 'POST',
    path: `${path.base}/members/`,
    summary: 'Give a user a role',
    permission: 'members.write',
    params: paramsOf(path, {}),
    body: Type.Object({
      user: Type.String({ maxLength: EMAIL_LENGTH_MAX }),
      role: roleIn(path.kind),
    }),
    entry: MemberRecord,
    run: async (call) => {
      const { db: tx, organization, body } = call
      const user = await findUserByEmail(tx, body.user)
      if (user === null) throw badRequest([{ field: 'user', rule: `no user has ${body.user}` }])
      const { member: before } = await lockMember(tx, { organization, uid: user.uid })
      if (before !== null) {
        throw new ApiError('wrongState', {
          message: `${before.email} is a member already, with the role ${before.role}`,
        })
      }
      await setMembership(tx, { uid: user.uid, organization, role: body.role })
      await call.audit({
        ...{ action: 'member.add', target: `user:${user.uid}` },
        after: { email: user.email, role: body.role },
      })
      const { member } = await lockMember(tx, { organization, uid: user.uid })
      return member === null ? [] : [toMember(member)]
    },
  })

export function toMember(row: MemberRow): Static<typeof MemberRecord> {
  const { membership_id: _, ...member } = row
  return {
    ...member,
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
  }
}
