/**
 * Accepting an invitation: a signed-in user gets the membership, anybody else makes an account.
 *
 * The link proves who reads the invited mailbox. It does not prove that its holder is the person
 * behind an existing account with that address, so that person signs in first.
 */

import { newSecret } from '../platform/crypto/secrets.ts'
import { ApiError, badRequest, type Fault, notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { writeAudit } from './audit-store.ts'
import type { Caller } from './caller.ts'
import { REFUSALS, stateOf, UNKNOWN_INVITATION } from './invitation.ts'
import { hashToken } from './invitation-operations.ts'
import {
  findInvitation,
  type InvitationRow,
  lockInvitationOf,
  setInvitationEnd,
} from './invitation-store.ts'
import { lockMember } from './member-store.ts'
import { setMembership, toOrganization } from './membership-store.ts'
import { hashPassword } from './password.ts'
import { findUser, findUserByEmail, insertUser } from './store.ts'
import { nameFaults, userFaults } from './user.ts'

interface NewAccount {
  readonly name?: string | undefined
  readonly password?: string | undefined
}

/** An invitation that can be accepted now; throws a 404 or 409 that says why not. */
export async function requireOpenInvitation(
  db: Db,
  { token, now, find = findInvitation }: { token: string; now: Date; find?: typeof findInvitation },
): Promise<InvitationRow> {
  const row = await find(db, hashToken(token))
  if (row === null) throw notFound(UNKNOWN_INVITATION)
  const state = stateOf(row, now)
  if (state !== 'open') throw new ApiError('wrongState', { message: REFUSALS[state] })
  return row
}

interface Acceptance {
  readonly token: string
  readonly now: Date
  /** Who is signed in; null for anybody else. */
  readonly caller: Caller | null
  readonly account: NewAccount
  /** Whether accounts are only those of an identity provider. */
  readonly isPasswordOff: boolean
  readonly requestId: string | null
}

/** Accepts an invitation; returns it and the user who is a member now. */
export async function acceptInvitation(
  db: Db,
  acceptance: Acceptance,
): Promise<{ invitation: InvitationRow; uid: number }> {
  const { token, now, caller, account, isPasswordOff } = acceptance
  const known = await requireOpenInvitation(db, { token, now })
  if (caller === null && isPasswordOff) throw new ApiError('wrongState', { message: NO_PASSWORDS })
  // Before the transaction: a password takes long to hash.
  const prepared = caller === null ? await prepareAccount(db, known, account) : null
  return db.transaction(async (tx) => {
    const invitation = await requireOpenInvitation(tx, { token, now, find: lockInvitationOf })
    const uid =
      prepared === null
        ? await requireInvited(tx, invitation, caller)
        : await makeAccount(tx, invitation, prepared)
    await join(tx, { ...acceptance, invitation, uid })
    return { invitation, uid }
  })
}

/**
 * Accepts for a person whose address an identity provider has verified; makes the account where
 * there is none. Throws a 403 if the invitation is for another address.
 */
export async function acceptForProven(
  db: Db,
  proven: Pick<Acceptance, 'token' | 'now' | 'requestId'> & { readonly email: string },
): Promise<void> {
  const passwordHash = await hashPassword(newSecret()) // Nobody knows it.
  const isSame = (email: string) => email.toLowerCase() === proven.email.toLowerCase()
  await db.transaction(async (tx) => {
    const invitation = await requireOpenInvitation(tx, { ...proven, find: lockInvitationOf })
    const user = await findUserByEmail(tx, invitation.email)
    if (!isSame(invitation.email) || (user !== null && !isSame(user.email))) {
      throw new ApiError('notYours')
    }
    const uid = user?.uid ?? (await makeAccount(tx, invitation, { name: '', passwordHash }))
    await join(tx, { ...proven, caller: null, invitation, uid })
  })
}

const NO_PASSWORDS =
  'This service signs in through an identity provider. Open the link of the invitation in a ' +
  'browser, and continue there with the invited address.'

async function join(
  tx: Db,
  joining: Pick<Acceptance, 'now' | 'caller' | 'requestId'> & {
    readonly invitation: InvitationRow
    readonly uid: number
  },
): Promise<void> {
  const { invitation, uid, caller, now, requestId } = joining
  const { invitation_id: id, email, role } = invitation
  const organization = toOrganization(invitation)
  const { member } = await lockMember(tx, { organization, uid })
  if (member !== null) {
    throw new ApiError('wrongState', {
      message: `You are a member already, with the role ${member.role}`,
    })
  }
  await setMembership(tx, { uid, organization, role })
  await setInvitationEnd(tx, { id, state: 'accepted', now })
  const by = caller ?? { ...NOBODY, uid }
  await writeAudit(
    tx,
    { caller: by, organization, requestId },
    {
      ...{ action: 'invitation.accept', target: `invitation:${id}` },
      after: { uid, email, role },
    },
  )
}

/** A person who holds a link, and has no session. */
const NOBODY: Omit<Caller, 'uid'> = {
  through: { kind: 'link' },
  memberships: [],
  scopes: null,
  boundTo: null,
}

/** The signed-in user, if the invitation is for its address. */
async function requireInvited(
  tx: Db,
  { email }: InvitationRow,
  caller: Caller | null,
): Promise<number> {
  const user = caller?.uid == null ? null : await findUser(tx, caller.uid)
  if (caller === null || user === null) throw new ApiError('notLoggedIn')
  if (caller.scopes !== null || caller.boundTo !== null) {
    throw new ApiError('roleForbids', {
      message: 'A key with scopes, or for one organization, cannot accept an invitation',
    })
  }
  if (user.email.toLowerCase() !== email.toLowerCase()) {
    throw new ApiError('notYours', {
      message: `This invitation is for ${email}, and you are logged in as ${user.email}`,
    })
  }
  return user.uid
}

interface PreparedAccount {
  readonly name: string
  readonly passwordHash: string
}

async function prepareAccount(
  db: Db,
  { email }: InvitationRow,
  { name, password }: NewAccount,
): Promise<PreparedAccount> {
  if ((await findUserByEmail(db, email)) !== null) throw hasAccount(email)
  const missing: Fault[] = Object.entries({ name, password })
    .filter(([, value]) => value === undefined)
    .map(([field]) => ({ field, rule: 'is required for a new account' }))
  const faults = [...missing, ...nameFaults({ name }), ...(await userFaults({ password }))]
  if (faults.length > 0) throw badRequest(faults)
  return { name: (name ?? '').trim(), passwordHash: await hashPassword(password ?? '') }
}

async function makeAccount(
  tx: Db,
  { email }: InvitationRow,
  { name, passwordHash }: PreparedAccount,
): Promise<number> {
  if ((await findUserByEmail(tx, email)) !== null) throw hasAccount(email)
  const { uid } = await insertUser(tx, { email, passwordHash, isAdmin: false, name })
  return uid
}

const hasAccount = (email: string) =>
  new ApiError('wrongState', {
    message: `${email} has an account. Log in with it, then accept the invitation.`,
  })
