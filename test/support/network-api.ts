/** Calls of the network's people: an administrator's key, and the audit log they leave. */
import { createApiKey, createUser } from '../../src/accounts/create-account.ts'
import { setMembership } from '../../src/accounts/membership-store.ts'
import { NETWORK } from '../../src/accounts/permission.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import type { Answer, Api, CallOptions } from './api.ts'

export interface NetworkApi {
  readonly uid: number
  readonly key: string
  /** A call below `/api/v1/network/` with the administrator's key. */
  call(path: string, options?: CallOptions): Promise<Answer>
  /** The last entry of the audit log; null before the first. */
  lastAudit(): Promise<AuditRow | null>
}

export interface AuditRow {
  readonly uid: number | null
  readonly action: string
  readonly target: string
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

export async function makeNetworkApi(
  api: Pick<Api, 'db' | 'call'>,
  role: 'admin' | 'staff' = 'admin',
): Promise<NetworkApi> {
  const { db } = api
  const email = `${role}@souk.example`
  const { uid } = await createUser(db, { email, password: 'a long password', isAdmin: false })
  await setMembership(db, { uid, organization: NETWORK, role })
  const made = await createApiKey(db, {
    ...{ uid, description: role, expiresAt: null, now: new Date() },
  })
  return {
    uid,
    key: made.key,
    call: (path, options) => api.call(`/api/v1/network/${path}`, { key: made.key, ...options }),
    lastAudit: () =>
      db.row(sql`
        select uid, action, target, before, after from audit_entry order by audit_id desc limit 1`),
  }
}
