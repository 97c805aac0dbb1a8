/** The API calls on the people of an organization: members, invitations, keys and audit log. */
import type { Static } from 'typebox'
import type { AuditRecord } from '../src/accounts/audit-operations.ts'
import type { CreatedInvitation, InvitationRecord } from '../src/accounts/invitation-operations.ts'
import type {
  AcceptBody,
  AcceptedInvitation,
  OpenInvitation,
} from '../src/accounts/invitation-routes.ts'
import type { CreatedKey, ListedKey, NewKey as NewKeyBody } from '../src/accounts/key-operations.ts'
import type { ListedMember } from '../src/accounts/member-operations.ts'
import type { Organization, Role } from '../src/accounts/permission.ts'
import { call, everything, first, page, post, readCsv, send } from './api.ts'

export type Member = Static<typeof ListedMember>
export type Invitation = Static<typeof InvitationRecord>
export type NewInvitation = Static<typeof CreatedInvitation>
export type ApiKey = Static<typeof ListedKey>
export type NewKey = Static<typeof CreatedKey>
export type WantedKey = Static<typeof NewKeyBody>
export type AuditEntry = Static<typeof AuditRecord>

export const people = {
  members: (at: Organization) => everything<Member>(`${pathTo(at)}/members/`),
  changeRole: (at: Organization, { uid, etag }: Member, role: Role) =>
    send<Member>(`${pathTo(at)}/members/${uid}/`, 'PATCH', { role }, etag),
  removeMember: (at: Organization, { uid }: Member) => remove(`${pathTo(at)}/members/${uid}/`),
  invitations: (at: Organization) => everything<Invitation>(`${pathTo(at)}/invitations/`),
  invite: (at: Organization, body: { email: string; role: Role }) =>
    post<NewInvitation>(`${pathTo(at)}/invitations/`, body),
  withdraw: (at: Organization, { invitation_id: id }: Invitation) =>
    remove(`${pathTo(at)}/invitations/${id}/`),
  invitation: (token: string) => first<Static<typeof OpenInvitation>>(ofToken(token)),
  accept: (token: string, body: Static<typeof AcceptBody>) =>
    post<Static<typeof AcceptedInvitation>>(`${ofToken(token)}accept/`, body),
  keys: (at: Organization) => everything<ApiKey>(`${pathTo(at)}/keys/`),
  createKey: (at: Organization, body: WantedKey) => post<NewKey>(`${pathTo(at)}/keys/`, body),
  disableKey: (at: Organization, tokenId: number) => remove(`${pathTo(at)}/keys/${tokenId}/`),
  auditLog: (at: Organization, filters: AuditFilters, cursor: string | null) =>
    page<AuditEntry>(auditUrl(at, { ...filters, limit: '50', ...(cursor && { cursor }) })),
  auditCsv: (at: Organization, filters: AuditFilters) => readCsv(auditUrl(at, filters)),
}

/** Texts of the filters; an empty one does not filter. */
export interface AuditFilters {
  readonly date_from: string
  readonly date_to: string
  readonly action: string
  readonly user: string
}

function auditUrl(at: Organization, filters: object): string {
  const given = Object.entries(filters).filter(([, value]) => value !== '')
  return `${pathTo(at)}/audit_log/?${new URLSearchParams(given)}`
}

const ofToken = (token: string) => `/api/v1/invitations/${encodeURIComponent(token)}/`

export const pathTo = ({ kind, id }: Organization): string =>
  kind === 'network' ? '/api/v1/network' : `/api/v1/${kind}s/${id}`

export const remove = (path: string) => call<object>(path, { method: 'DELETE' })
