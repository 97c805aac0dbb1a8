/** Passkeys (WebAuthn) as second factors: options for the browser, and checks of its answers. */
import {
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import Type, { type Static } from 'typebox'
import type { PasskeyRow } from './passkey-store.ts'

/** How long the browser may ask for the passkey: people must find their key. */
export const PASSKEY_MS = 300_000

/** In base64url; the longest ids of credentials have 1,023 bytes. */
const Bytes = (maxLength: number) => Type.String({ maxLength, pattern: '^[\\w-]*={0,2}$' })
const Id = Bytes(1_400)
const Extensions = Type.Optional(Type.Object({}))

/** What `navigator.credentials.create` answers, as `@simplewebauthn/browser` sends it. */
export const RegistrationResponse = Type.Object({
  id: Id,
  rawId: Id,
  type: Type.Literal('public-key'),
  response: Type.Object({
    clientDataJSON: Bytes(4_000),
    attestationObject: Bytes(12_000),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 })),
  }),
  clientExtensionResults: Extensions,
})

/** What `navigator.credentials.get` answers. */
export const AuthenticationResponse = Type.Object({
  id: Id,
  rawId: Id,
  type: Type.Literal('public-key'),
  response: Type.Object({
    clientDataJSON: Bytes(4_000),
    authenticatorData: Bytes(2_000),
    signature: Bytes(1_000),
    userHandle: Type.Optional(Bytes(100)),
  }),
  clientExtensionResults: Extensions,
})

const Credential = Type.Object({
  id: Type.String(),
  type: Type.String(),
  transports: Type.Optional(Type.Array(Type.String())),
})

/** For `startRegistration` of `@simplewebauthn/browser`. */
export const RegistrationOptions = Type.Object({
  challenge: Type.String(),
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(Type.Object({ alg: Type.Integer(), type: Type.String() })),
  timeout: Type.Integer({ description: 'Milliseconds' }),
  attestation: Type.String(),
  excludeCredentials: Type.Array(Credential),
  authenticatorSelection: Type.Object({
    residentKey: Type.String(),
    requireResidentKey: Type.Boolean(),
    userVerification: Type.String(),
  }),
})

/** For `startAuthentication` of `@simplewebauthn/browser`. */
export const AuthenticationOptions = Type.Object({
  challenge: Type.String(),
  rpId: Type.String(),
  timeout: Type.Integer({ description: 'Milliseconds' }),
  allowCredentials: Type.Array(Credential),
  userVerification: Type.String(),
})

const hostOf = (baseUrl: string) => new URL(baseUrl).hostname
const transportsOf = ({ transports }: Pick<PasskeyRow, 'transports'>) =>
  [...transports] as AuthenticatorTransport[]
const toCredential = (row: PasskeyRow) => ({
  id: row.credential_id,
  transports: transportsOf(row),
})

export async function registrationOptions(
  { uid, email }: { uid: number; email: string },
  { baseUrl, held }: { baseUrl: string; held: readonly PasskeyRow[] },
): Promise<Static<typeof RegistrationOptions>> {
  const options = await generateRegistrationOptions({
    rpName: 'Souk',
    rpID: hostOf(baseUrl),
    userName: email,
    userID: new TextEncoder().encode(`souk user ${uid}`),
    attestationType: 'none',
    excludeCredentials: held.map(toCredential),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    timeout: PASSKEY_MS,
  })
  return options as unknown as Static<typeof RegistrationOptions>
}

export interface NewPasskey {
  readonly credentialId: string
  readonly publicKey: Buffer
  readonly counter: number
  readonly transports: readonly string[]
}

/** The passkey that the browser has made for this challenge; null if the answer does not hold. */
export async function checkRegistration(
  response: Static<typeof RegistrationResponse>,
  { baseUrl, challenge }: { baseUrl: string; challenge: string },
): Promise<NewPasskey | null> {
  const checked = await verifyRegistrationResponse({
    response: { clientExtensionResults: {}, ...response } as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: new URL(baseUrl).origin,
    expectedRPID: hostOf(baseUrl),
    requireUserVerification: false, // The password was checked before.
  }).catch(() => null) // The library throws where any part does not fit.
  if (checked === null || !checked.verified) return null
  const { id, publicKey, counter } = checked.registrationInfo.credential
  const { transports = [] } = response.response
  return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports }
}

export async function authenticationOptions({
  baseUrl,
  held,
}: {
  baseUrl: string
  held: readonly PasskeyRow[]
}): Promise<Static<typeof AuthenticationOptions>> {
  const options = await generateAuthenticationOptions({
    rpID: hostOf(baseUrl),
    allowCredentials: held.map(toCredential),
    userVerification: 'preferred',
    timeout: PASSKEY_MS,
  })
  return options as unknown as Static<typeof AuthenticationOptions>
}

/** The used passkey and its next counter; null if the answer does not hold. */
export async function checkAuthentication(
  response: Static<typeof AuthenticationResponse>,
  {
    baseUrl,
    challenge,
    held,
  }: {
    baseUrl: string
    challenge: string
    held: readonly PasskeyRow[]
  },
): Promise<{ readonly passkeyId: number; readonly counter: number } | null> {
  const used = held.find(({ credential_id: id }) => id === response.id)
  if (used === undefined) return null
  const checked = await verifyAuthenticationResponse({
    response: { clientExtensionResults: {}, ...response } as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: new URL(baseUrl).origin,
    expectedRPID: hostOf(baseUrl),
    requireUserVerification: false,
    credential: {
      id: used.credential_id,
      publicKey: new Uint8Array(used.public_key),
      counter: Number(used.counter),
      transports: transportsOf(used),
    },
  }).catch(() => null)
  if (checked === null || !checked.verified) return null
  return { passkeyId: used.passkey_id, counter: checked.authenticationInfo.newCounter }
}
