/** Commands on users, publishers and API keys. */
import { deleteKeyOf, issueKeyOf } from '../accounts/key-operations.ts'
import { findKeyBinding } from '../accounts/key-store.ts'
import { perform } from '../accounts/operation.ts'
import { organizationParams, pathOf } from '../accounts/organization-path.ts'
import { NETWORK, type Permission } from '../accounts/permission.ts'
import { PUBLISHER_DEFAULTS, type PublisherSettings } from '../accounts/publisher.ts'
import {
  findPublisher,
  findPublisherBySlug,
  listPublishers,
  type Publisher,
} from '../accounts/publisher-store.ts'
import { toApiKeyRecord, toPublisherRecord } from '../accounts/schema.ts'
import {
  findUser,
  findUserByEmail,
  listApiKeys,
  listUsers,
  type UserRow,
} from '../accounts/store.ts'
import { conflictText, listConflicts } from '../campaigns/list-conflict-store.ts'
import { type NewPublisher, toPublisherBody } from '../operator/publisher-body.ts'
import { createPublisher, updateNetworkPublisher } from '../operator/publisher-operations.ts'
import { createUser, updateUser } from '../operator/user-operations.ts'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { asShell } from './as-shell.ts'
import type { CommandContext } from './command.ts'
import { readOrganization, requireKnown } from './organization.ts'
import { changesOf, type Given, PUBLISHER_SETTINGS } from './settings.ts'

export async function createUserCommand(
  context: CommandContext,
  options: { email: string; password: string; admin?: boolean },
) {
  const { email, password, admin = false } = options
  const body = { email, password, ...(admin ? { network_role: 'admin' as const } : {}) }
  const shell = asShell(context, await context.database())
  const [user] = await perform(createUser, { ...shell, body })
  return { uid: user?.uid, email: user?.email }
}

export async function updateUserCommand(
  context: CommandContext,
  options: { id: number; email?: string; password?: string; admin?: boolean },
) {
  const { id: uid, admin, ...changes } = options
  const role = admin === true ? ('admin' as const) : null
  const body = { ...changes, ...(admin === undefined ? {} : { network_role: role }) }
  const db = await context.database()
  await perform(updateUser, { ...asShell(context, db), params: { uid }, body })
  const user = await findUser(db, uid)
  return user === null ? undefined : toListedUser(user)
}

export async function listUsersCommand(context: CommandContext) {
  return (await listUsers(await context.database())).map(toListedUser)
}

function toListedUser({ uid, email, is_admin: admin, datetime_created }: UserRow) {
  return { uid, email, admin, datetime_created: formatTimestamp(datetime_created) }
}

export async function createPublisherCommand(context: CommandContext, options: Given) {
  const db = await context.database()
  const body = toPublisherBody(await readChanges(db, options)) as NewPublisher
  const [created] = await perform(createPublisher, { ...asShell(context, db), body })
  return withConflicts(db, created?.pub_id ?? 0)
}

export async function updatePublisherCommand(
  context: CommandContext,
  { id: pubId, ...options }: Given & { readonly id: number },
) {
  const db = await context.database()
  const changes = await readChanges(db, options)
  const before = await findPublisher(db, pubId)
  const call = { params: { pub_id: pubId }, body: toPublisherBody(changes) }
  const [updated] = await perform(updateNetworkPublisher, { ...asShell(context, db), ...call })
  const slug = updated?.slug ?? ''
  if (before !== null && before.slug.toLowerCase() !== slug.toLowerCase()) {
    const old = `Page tags and /link/ addresses that say ${before.slug}`
    context.progress(`${old} earn nothing until they say ${slug}.`)
  }
  return withConflicts(db, pubId)
}

/** A publisher's record, with campaigns whose lists contradict its own. */
async function withConflicts(db: Db, pubId: number) {
  const publisher = await findPublisher(db, pubId)
  if (publisher === null) throw notFound(`No publisher ${pubId}`)
  const conflicts = await listConflicts(db, { campaignId: null, pubId })
  return { ...toPublisherRecord(publisher), conflicts: conflicts.map(conflictText) }
}

export async function listPublishersCommand(context: CommandContext) {
  const db = await context.database()
  const conflicts = Map.groupBy(
    await listConflicts(db, { campaignId: null, pubId: null }),
    ({ pub_id }) => pub_id,
  )
  return (await listPublishers(db, { uid: null })).map((publisher) => ({
    ...toPublisherRecord(publisher),
    conflicts: (conflicts.get(publisher.pub_id) ?? []).map(conflictText),
  }))
}

export async function createKeyCommand(
  context: CommandContext,
  options: {
    user: string
    description: string
    expires?: Date | null
    scope?: Permission[]
    publisher?: number
    merchant?: number
  },
) {
  const { user, description, expires = null, scope: scopes = null } = options
  const organization = readOrganization(options)
  const db = await context.database()
  if (organization !== null) await requireKnown(db, organization)
  const at = organization ?? NETWORK
  const [created] = await perform(issueKeyOf(pathOf(at.kind)), {
    ...asShell(context, db),
    params: organizationParams(at),
    body: {
      ...{ user, description, scopes, is_for_account: organization === null },
      datetime_expires: expires?.toISOString() ?? null,
    },
  })
  return { token_id: created?.token_id, uid: created?.uid, key: created?.key }
}

export async function disableKeyCommand(context: CommandContext, options: { token: number }) {
  const db = await context.database()
  const { token: token_id } = options
  const binding = await findKeyBinding(db, token_id)
  if (binding === undefined) throw notFound(`No key ${token_id}`)
  const at = binding ?? NETWORK
  const [disabled] = await perform(deleteKeyOf(pathOf(at.kind)), {
    ...asShell(context, db),
    params: { ...organizationParams(at), token_id },
  })
  return { token_id, is_enabled_by_user: disabled?.is_enabled_by_user }
}

export async function listKeysCommand(context: CommandContext) {
  return (await listApiKeys(await context.database(), { uid: null })).map(toApiKeyRecord)
}

/** The user that an option names by e-mail address. */
async function requireUid(db: Db, email: string): Promise<number> {
  const user = await findUserByEmail(db, email)
  if (user === null) throw badRequest([{ field: 'user', rule: `no user has ${email}` }])
  return user.uid
}

/** The publisher that an option names by slug. */
export async function requirePublisher(db: Db, slug: string): Promise<Publisher> {
  const publisher = await findPublisherBySlug(db, slug)
  if (publisher !== null) return publisher
  throw badRequest([{ field: 'publisher', rule: `no publisher ${slug}` }])
}

/** The options, with the id of the user that they name by e-mail address. */
export async function withUid(db: Db, options: Given): Promise<Given> {
  const { user } = options
  return typeof user === 'string' ? { ...options, user: await requireUid(db, user) } : options
}

async function readChanges(db: Db, options: Given): Promise<Partial<PublisherSettings>> {
  return changesOf(PUBLISHER_SETTINGS, await withUid(db, options), PUBLISHER_DEFAULTS)
}
