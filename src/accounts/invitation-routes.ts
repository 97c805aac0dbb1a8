/** The routes behind an invitation's link. They need no sign-in: the link's token is the proof. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ApiError } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { orNull, Time } from '../platform/http/field-types.ts'
import { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { addressUnit } from '../platform/net/client-address.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { acceptInvitation, requireOpenInvitation } from './accept-invitation.ts'
import { OIDC_PATH } from './invitation.ts'
import type { InvitationRow } from './invitation-store.ts'
import { findOrganizationName } from './member-store.ts'
import { toOrganization } from './membership-store.ts'
import { PASSWORD_LENGTH_MAX } from './password.ts'
import { ROLES } from './permission.ts'
import { holderOf, type KeyGuard } from './require-key.ts'
import { OrganizationRecord } from './schema.ts'
import { readSessionCookie } from './session.ts'
import { findUserByEmail } from './store.ts'
import { USER_NAME_LENGTH_MAX } from './user.ts'

/** A name and a password have at most 1,300 bytes. */
const BODY_BYTES_MAX = 4_096
/** A person opens a link a few times; guessing a token of 256 bits is hopeless at any rate. */
const BY_ADDRESS = { rate: 0.2, burst: 20 }

const Token = Type.Object({ token: Type.String({ description: 'The end of the `accept_url`' }) })

const InvitationPart = {
  organization: OrganizationRecord,
  organization_name: Type.String(),
  email: Type.String({ description: 'The invited address' }),
  role: Type.Enum([...ROLES]),
}
export const OpenInvitation = Type.Object({
  ...InvitationPart,
  has_account: Type.Boolean({
    description: 'Whether a user has this address, who must be signed in to accept',
  }),
  sign_in_url: orNull(
    Type.String(),
    'Where a browser signs in through the identity provider and accepts; null: with a password',
  ),
  datetime_expires: Time,
})
export const AcceptedInvitation = Type.Object({ uid: Type.Integer(), ...InvitationPart })

export const AcceptBody = Type.Object({
  name: Type.Optional(
    Type.String({ maxLength: USER_NAME_LENGTH_MAX, description: 'Required for a new account' }),
  ),
  password: Type.Optional(
    Type.String({ maxLength: PASSWORD_LENGTH_MAX, description: 'Required for a new account' }),
  ),
})

interface Deps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly baseUrl: string
  /** Whether everybody signs in through an identity provider. */
  readonly isPasswordOff: boolean
  readonly now: () => Date
}

export const invitationRoutes =
  ({ db, keys, baseUrl, isPasswordOff, now }: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limits = new TokenBuckets(BY_ADDRESS)
    app.addHook('onRequest', async (request) => {
      limits.spend(addressUnit(request.clientAddress), now().getTime())
      await identify(keys, request, baseUrl)
    })

    app.get(
      '/api/v1/invitations/:token/',
      {
        schema: {
          operationId: 'readInvitation',
          tags: ['account'],
          summary: 'What an invitation is for',
          security: [],
          params: Token,
          response: { 200: envelope(OpenInvitation) },
        },
      },
      async ({ params: { token } }) => {
        const invitation = await requireOpenInvitation(db, { token, now: now() })
        const user = await findUserByEmail(db, invitation.email)
        return ok(200, {
          ...(await describe(db, invitation)),
          has_account: user !== null,
          sign_in_url: isPasswordOff ? `${baseUrl}${OIDC_PATH}?invitation=${token}` : null,
          datetime_expires: formatTimestamp(invitation.datetime_expires),
        })
      },
    )

    await app.register(acceptRoute({ db, isPasswordOff, now }))
  }

const acceptRoute =
  ({ db, isPasswordOff, now }: Omit<Deps, 'keys' | 'baseUrl'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/api/v1/invitations/:token/accept/',
      {
        bodyLimit: BODY_BYTES_MAX,
        // A signed-in user has nothing to send.
        preValidation: async (request) => {
          request.body ??= {}
        },
        schema: {
          operationId: 'acceptInvitation',
          tags: ['account'],
          summary: 'Accept an invitation',
          description:
            'A signed-in user with the invited address becomes a member. Without a session, and ' +
            'with an address that no user has, `name` and `password` make an account first. ' +
            'Refused with 409 if the invitation has been used, was withdrawn or has expired, and ' +
            'with 403 to a user with another address. Where only an identity provider signs in, ' +
            'a browser accepts by the `sign_in_url`.',
          security: [{}, { apiKey: [] }, { session: [] }],
          params: Token,
          body: AcceptBody,
          response: { 200: envelope(AcceptedInvitation) },
        },
      },
      async (request) => {
        const { invitation, uid } = await acceptInvitation(db, {
          token: request.params.token,
          now: now(),
          caller: request.keyHolder === undefined ? null : holderOf(request),
          account: request.body,
          isPasswordOff,
          requestId: request.id,
        })
        return ok(200, { uid, ...(await describe(db, invitation)) })
      },
    )
  }

/** Who is signed in, if anybody is: an ended session is none. */
async function identify(keys: KeyGuard, request: FastifyRequest, baseUrl: string): Promise<void> {
  const hasKey = (request.headers.authorization ?? '') !== ''
  const hasSession = readSessionCookie(request.headers.cookie, baseUrl) !== null
  if (!hasKey && !hasSession) return
  await keys.require(request).catch((error) => {
    if (hasKey || !(error instanceof ApiError) || error.status !== 401) throw error
  })
}

async function describe(db: Db, invitation: InvitationRow) {
  const organization = toOrganization(invitation)
  return {
    organization,
    organization_name: (await findOrganizationName(db, organization)) ?? '',
    email: invitation.email,
    role: invitation.role,
  }
}
