/** The signed-in user: who it is and what it may do where. */
import Type from 'typebox'
import { notFound } from '../platform/errors/api-errors.ts'
import { orNull, Time } from '../platform/http/field-types.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { type Caller, permissionsIn } from './caller.ts'
import { listOrganizationNames, toOrganization } from './membership-store.ts'
import { action } from './operation.ts'
import { PERMISSIONS, ROLES } from './permission.ts'
import { OrganizationRecord } from './schema.ts'
import { findUser } from './store.ts'

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
  csrf_token: orNull(
    Type.String(),
    'For the header `X-Souk-Csrf` of every change in this session; null for an API key',
  ),
  base_url: Type.String({ description: 'The address of this service' }),
  brand: Type.String({ description: 'The word before `-API-KEY`' }),
  datetime_created: Time,
  datetime_updated: Time,
})

/** What the service calls itself. */
export interface ServiceNames {
  readonly baseUrl: string
  readonly brand: string
}

export const readMe = ({ baseUrl, brand }: ServiceNames) =>
  action({
    id: 'readMe',
    tag: 'account',
    method: 'GET',
    path: '/api/v1/me/',
    summary: 'Who is signed in, and what they may do where',
    permission: null,
    entry: MeRecord,
    run: async ({ db, caller }) => {
      const user = caller.uid === null ? null : await findUser(db, caller.uid)
      if (user === null) throw notFound('Nobody is signed in')
      return [
        {
          uid: user.uid,
          email: user.email,
          name: user.name,
          memberships: await toldMemberships(db, caller),
          csrf_token: caller.through.kind === 'session' ? caller.through.csrfToken : null,
          base_url: baseUrl,
          brand,
          datetime_created: formatTimestamp(user.datetime_created),
          datetime_updated: formatTimestamp(user.datetime_updated),
        },
      ]
    },
  })

/** With the permissions that the caller has there: a key may have fewer than its user. */
async function toldMemberships(db: Db, caller: Caller) {
  const names = await listOrganizationNames(db, caller.uid ?? 0)
  return names.flatMap(({ name, role, ...columns }) => {
    const organization = toOrganization(columns)
    const permissions = permissionsIn(caller, organization)
    if (permissions === null) return []
    return [{ organization, name, role, permissions: [...permissions] }]
  })
}
