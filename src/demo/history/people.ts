/** Runs operations in the past, as the demo's users did from their dashboards. */
import { type Caller, SHELL } from '../../accounts/caller.ts'
import { type Operation, perform } from '../../accounts/operation.ts'
import { NETWORK, type Organization, type Role } from '../../accounts/permission.ts'
import { findUserByEmail } from '../../accounts/store.ts'
import type { Db } from '../../platform/postgres/postgres.ts'

export interface Call {
  readonly id: string // of the operation
  readonly by: Person
  readonly params?: Readonly<Record<string, unknown>>
  readonly body?: Readonly<Record<string, unknown>>
}

export interface Person {
  readonly email: string
  readonly role: Role
  readonly of: Organization
}

/** The operator's administrator. */
export const ADMIN: Person = { email: 'admin@souk.example', role: 'admin', of: NETWORK }

/** Runs a call at the time of the clock; the audit log says when. */
export async function act(
  db: Db,
  { operations, nowMs }: { readonly operations: readonly Operation[]; readonly nowMs: number },
  { id, by, params, body }: Call,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const operation = operations.find((one) => one.id === id)
  if (operation?.kind !== 'action') throw new Error(`there is no action ${id}`)
  const now = new Date(nowMs)
  const caller = await callerOf(db, by)
  const entries = await perform(operation, { db, caller, now, params, body, auditedAt: now })
  return entries as readonly Readonly<Record<string, unknown>>[]
}

async function callerOf(db: Db, { email, role, of }: Person): Promise<Caller> {
  const user = await findUserByEmail(db, email)
  if (user === null) throw new Error(`the demo has no user ${email}`)
  const through = { kind: 'session', sessionId: 0, csrfToken: '' } as const
  return { ...SHELL, uid: user.uid, through, memberships: [{ organization: of, role }] }
}
