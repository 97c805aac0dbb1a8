/**
 * The API keys of an organization: list, create, change, disable.
 *
 * A manager sees their own keys, an owner those of all members. A key for the user's whole account
 * is shown to its user in each of their organizations, and to nobody else.
 */
import Type, { type Static } from 'typebox'
import { ApiError, badRequest, notFound } from '../platform/errors/api-errors.ts'
import { orNull, smallId, timestamp } from '../platform/http/field-types.ts'
import { parseTimestamp } from '../platform/time/timestamp.ts'
import { permissionsIn } from './caller.ts'
import { createApiKey } from './create-account.ts'
import { requireMatch, withEtag } from './etag.ts'
import { cursorId, pageOf } from './id-pages.ts'
import { requireAsWide, scopeFaults } from './key-scopes.ts'
import {
  type KeyView,
  listKeysOf,
  lockKey,
  type OrganizationKeyRow,
  updateKey,
} from './key-store.ts'
import { lockMember } from './member-store.ts'
import { boundOrganization } from './membership-store.ts'
import { action, type Call, list, type Operation } from './operation.ts'
import { ORGANIZATION_PATHS, type OrganizationPath, paramsOf } from './organization-path.ts'
import { PERMISSIONS } from './permission.ts'
import { ApiKeyRecord, toApiKeyRecord } from './schema.ts'
import { disableApiKey, findUser, findUserByEmail } from './store.ts'
import { DESCRIPTION_LENGTH_MAX, EMAIL_LENGTH_MAX, keyFaults } from './user.ts'

const KEY = {
  ...ApiKeyRecord.properties,
  email: Type.String({ description: 'Of its user' }),
}
const KeyRecord = Type.Object(KEY)
export const ListedKey = Type.Object({ ...KEY, etag: Type.String({ description: 'For If-Match' }) })
export const CreatedKey = Type.Object({
  ...KEY,
  key: orNull(
    Type.String(),
    'The key itself, shown this once: null where the same `Idempotency-Key` is sent again',
  ),
})

const Scopes = orNull(
  Type.Array(Type.Enum([...PERMISSIONS]), {
    minItems: 1,
    maxItems: PERMISSIONS.length,
    uniqueItems: true,
  }),
  'The only permissions of the key, each of which you have; null: all of its user',
)
const Description = Type.String({ minLength: 1, maxLength: DESCRIPTION_LENGTH_MAX })
const Expires = orNull(timestamp(), 'ISO 8601, in the future; null: never')

export const NewKey = Type.Object({
  description: Description,
  scopes: Type.Optional(Scopes),
  datetime_expires: Type.Optional(Expires),
  is_for_account: Type.Optional(
    Type.Boolean({
      description: 'For all your organizations instead of this one only; default false',
    }),
  ),
})

export function keyOperations(): Operation[] {
  return ORGANIZATION_PATHS.flatMap((path) => [
    listKeysOperation(path),
    createKeyOf(path),
    updateKeyOf(path),
    deleteKeyOf(path),
  ])
}

const listKeysOperation = (path: OrganizationPath) =>
  list({
    id: `list${path.noun}Keys`,
    tag: path.tag,
    path: `${path.base}/keys/`,
    summary: 'API keys, the newest first, without the keys themselves',
    description:
      'An owner sees the keys of all members for this organization, others their own. Your own ' +
      'keys for your whole account, whose `organization` is null, are listed too.',
    permission: 'keys.write',
    params: paramsOf(path, {}),
    entry: ListedKey,
    run: async (call) => {
      const { db, query } = call
      const wanted = { ...viewOf(call), before: cursorId(query), limit: query.limit + 1 }
      return pageOf(await listKeysOf(db, wanted), query.limit, {
        idOf: ({ token_id: id }) => id,
        toEntry: (row) => withEtag(toKey(row)),
      })
    },
  })

type KeyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'organization'>

function viewOf({ caller, organization }: KeyCall): KeyView {
  return {
    organization,
    uid: caller.uid,
    isOfAll: permissionsIn(caller, organization)?.has('members.write') === true,
    isOfAccount: caller.boundTo === null,
    isOfAnybody: caller.through.kind === 'cli',
  }
}

const createKeyOf = (path: OrganizationPath) =>
  action({
    id: `create${path.noun}Key`,
    tag: path.tag,
    method: 'POST',
    path: `${path.base}/keys/`,
    summary: 'Create an API key; the answer alone shows it',
    permission: 'keys.write',
    status: 201,
    secretFields: ['key'],
    params: paramsOf(path, {}),
    body: NewKey,
    entry: CreatedKey,
    run: async (call) => {
      const { db, caller } = call
      const user = caller.uid === null ? null : await findUser(db, caller.uid)
      if (user === null) throw new ApiError('notLoggedIn')
      return [await issueKey(call, user)]
    },
  })

/** Creates a key for somebody. Only the operator's command calls it. */
export const issueKeyOf = (path: OrganizationPath) =>
  action({
    id: `issue${path.noun}Key`,
    tag: path.tag,
    method: 'POST',
    path: `${path.base}/keys/`,
    summary: 'Create an API key for a user',
    permission: 'keys.write',
    params: paramsOf(path, {}),
    body: Type.Object({
      ...NewKey.properties,
      user: Type.String({ maxLength: EMAIL_LENGTH_MAX }),
    }),
    entry: CreatedKey,
    run: async (call) => {
      const { db, organization, body } = call
      const user = await findUserByEmail(db, body.user)
      if (user === null) throw badRequest([{ field: 'user', rule: `no user has ${body.user}` }])
      const { member } = await lockMember(db, { organization, uid: user.uid })
      if (member === null && body.is_for_account !== true) {
        const rule = `${user.email} does not belong to this ${organization.kind}`
        throw badRequest([{ field: 'user', rule }])
      }
      return [await issueKey(call, user)]
    },
  })

async function issueKey(
  call: Call<unknown, unknown, Static<typeof NewKey>>,
  { uid, email }: { readonly uid: number; readonly email: string },
): Promise<Static<typeof CreatedKey>> {
  const { db: tx, caller, organization, body, now } = call
  const { description, scopes = null, datetime_expires = null, is_for_account = false } = body
  const rights = { scopes, boundTo: is_for_account ? null : organization }
  requireAsWide(caller, rights)
  const expiresAt = parseTimestamp(datetime_expires ?? '')
  refuse(call, { ...rights, description, expiresAt })
  const { key, row } = await createApiKey(tx, { uid, description, expiresAt, now, ...rights })
  const record = toKey({ ...row, email })
  await call.audit({ ...change('create', row.token_id), after: changedParts(record) })
  return { ...record, key }
}

function refuse(
  { caller, now }: Pick<Call<unknown, unknown, unknown>, 'caller' | 'now'>,
  wanted: Parameters<typeof scopeFaults>[1] & Parameters<typeof keyFaults>[0],
): void {
  const faults = [
    ...keyFaults(wanted, now).map(({ field, rule }) => ({
      field: field === 'expires' ? 'datetime_expires' : field,
      rule,
    })),
    ...scopeFaults(caller, wanted),
  ]
  if (faults.length > 0) throw badRequest(faults)
}

const updateKeyOf = (path: OrganizationPath) =>
  action({
    id: `update${path.noun}Key`,
    tag: path.tag,
    method: 'PATCH',
    path: `${path.base}/keys/:token_id/`,
    summary: 'Change the label, the scopes or the expiry of an API key, or disable it',
    permission: 'keys.write',
    hasEtag: true,
    params: paramsOf(path, { token_id: smallId }),
    body: Type.Object({
      description: Type.Optional(Description),
      scopes: Type.Optional(Scopes),
      datetime_expires: Type.Optional(Expires),
      is_enabled_by_user: Type.Optional(
        Type.Boolean({ description: 'False disables the key for good, as `DELETE` does' }),
      ),
    }),
    entry: KeyRecord,
    run: async (call) => {
      const { db: tx, caller, body } = call
      const row = await requireKeyOf(call)
      requireMatch(call.ifMatch, toKey(row))
      if (!row.is_enabled_by_user) {
        throw new ApiError('wrongState', { message: 'The key is disabled for good' })
      }
      const record = toKey(row)
      const scopes = body.scopes === undefined ? row.scopes : body.scopes
      const expiresAt =
        body.datetime_expires === undefined
          ? row.datetime_expires
          : parseTimestamp(body.datetime_expires ?? '')
      const description = (body.description ?? row.description).trim()
      if (body.scopes !== undefined) {
        const rights = { scopes, boundTo: boundOrganization(row) }
        requireAsWide(caller, rights)
        const faults = scopeFaults(caller, rights)
        if (faults.length > 0) throw badRequest(faults)
      }
      refuse(call, {
        ...{ description, scopes: null, boundTo: null },
        // An expired key may get another label.
        expiresAt: body.datetime_expires === undefined ? null : expiresAt,
      })
      const updated = await updateKey(tx, { tokenId: row.token_id, description, scopes, expiresAt })
      const after = toKey({ ...updated, email: row.email })
      await call.audit({
        ...change('update', row.token_id),
        before: changedParts(record),
        after: changedParts(after),
      })
      return [
        body.is_enabled_by_user === false ? await disableKey(call, { ...row, ...updated }) : after,
      ]
    },
  })

export const deleteKeyOf = (path: OrganizationPath) =>
  action({
    id: `disable${path.noun}Key`,
    tag: path.tag,
    method: 'DELETE',
    path: `${path.base}/keys/:token_id/`,
    summary: 'Disable an API key for good',
    permission: 'keys.write',
    params: paramsOf(path, { token_id: smallId }),
    entry: KeyRecord,
    run: async (call) => {
      const row = await requireKeyOf(call)
      requireMatch(call.ifMatch, toKey(row))
      return [row.is_enabled_by_user ? await disableKey(call, row) : toKey(row)]
    },
  })

async function disableKey(
  call: Pick<Call<unknown, unknown, unknown>, 'db' | 'audit'>,
  row: OrganizationKeyRow,
): Promise<Static<typeof KeyRecord>> {
  const tokenId = row.token_id
  const disabled = await disableApiKey(call.db, { tokenId, uid: null })
  await call.audit({ ...change('disable', tokenId), before: changedParts(toKey(row)) })
  return toKey({ ...row, ...disabled })
}

async function requireKeyOf(
  call: KeyCall & Pick<Call<{ token_id: number }, unknown, unknown>, 'db' | 'params'>,
): Promise<OrganizationKeyRow> {
  const { token_id: tokenId } = call.params
  const row = await lockKey(call.db, { ...viewOf(call), tokenId })
  if (row === null) throw notFound(`No key ${tokenId}`)
  return row
}

const change = (verb: string, tokenId: number) => ({
  action: `key.${verb}`,
  target: `key:${tokenId}`,
})

function changedParts(record: Static<typeof KeyRecord>) {
  const { uid, description, scopes, organization, datetime_expires } = record
  return { uid, description, scopes, organization, datetime_expires }
}

function toKey({ email, ...row }: OrganizationKeyRow): Static<typeof KeyRecord> {
  return { ...toApiKeyRecord(row), email }
}
