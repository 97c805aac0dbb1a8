/** The second factors of the signed-in user: authenticator app, passkeys, recovery codes. */

import { randomBytes } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { ApiError, badRequest, notFound } from '../../platform/errors/api-errors.ts'
import { smallId, Time, TimeOrNull } from '../../platform/http/field-types.ts'
import { formatTimestamp, formatTimestampOrNull } from '../../platform/time/timestamp.ts'
import { cursorId, pageOf } from '../id-pages.ts'
import { action, list, type Operation } from '../operation.ts'
import { requireOwnSession } from '../session.ts'
import { findUser } from '../store.ts'
import {
  deleteTotp,
  deleteUselessCodes,
  findTotp,
  insertTotp,
  readFactors,
  replaceRecoveryCodes,
  spendTotpStep,
  type TotpRow,
} from './factor-store.ts'
import type { LoginLimits } from './login-limits.ts'
import {
  checkRegistration,
  PASSKEY_MS,
  RegistrationOptions,
  RegistrationResponse,
  registrationOptions,
} from './passkey.ts'
import {
  deletePasskey,
  insertPasskey,
  listPasskeys,
  PASSKEYS_MAX,
  type PasskeyRow,
  setRegistration,
  takeRegistration,
} from './passkey-store.ts'
import {
  hashRecoveryCode,
  RECOVERY_CODE_BYTES,
  RECOVERY_CODES,
  toRecoveryCode,
} from './recovery-code.ts'
import { otpauthUrl, stepOfCode, TOTP_SECRET_BYTES, toTotpSecret } from './totp.ts'

const PASSKEY_NAME_LENGTH_MAX = 100
/** An attestation has up to 12 KiB; most have 500 bytes (docs/spec/limits.md#bodies). */
const PASSKEY_BYTES_MAX = 32_768
export const CODE_LENGTH_MAX = 40

export interface FactorDeps {
  readonly baseUrl: string
  readonly limits: LoginLimits
}

export function factorOperations(deps: FactorDeps): Operation[] {
  return [
    ...[READ_TOTP, enrolTotp(deps), confirmTotp(deps), REMOVE_TOTP],
    ...[LIST_PASSKEYS, askPasskey(deps), addPasskey(deps), REMOVE_PASSKEY],
    ...[READ_RECOVERY_CODES, NEW_RECOVERY_CODES],
  ]
}

const TotpRecord = Type.Object({
  is_confirmed: Type.Boolean({ description: 'Whether sign-in asks for its codes' }),
  datetime_created: Time,
  datetime_updated: Time,
})

export const EnrolledTotp = Type.Object({
  secret: Type.String({ description: 'In base32, to type into the app' }),
  otpauth_url: Type.String({ description: 'For a QR code that the app reads' }),
  ...TotpRecord.properties,
})

const toTotpRecord = (row: TotpRow): Static<typeof TotpRecord> => ({
  is_confirmed: row.is_confirmed,
  datetime_created: formatTimestamp(row.datetime_created),
  datetime_updated: formatTimestamp(row.datetime_updated),
})

const READ_TOTP = action({
  ...{ id: 'readTotp', tag: 'account', method: 'GET', path: '/api/v1/me/totp/' },
  summary: 'Whether you have an authenticator app',
  description: 'Without one, `data` is empty.',
  permission: null,
  entry: TotpRecord,
  run: async ({ db, caller }) => {
    const row = await findTotp(db, requireOwnSession(caller).uid)
    return row === null ? [] : [toTotpRecord(row)]
  },
})

const enrolTotp = ({ baseUrl }: FactorDeps) =>
  action({
    ...{ id: 'enrolTotp', tag: 'account', method: 'POST', path: '/api/v1/me/totp/' },
    summary: 'Set up an authenticator app',
    description:
      'Shows the secret this once. Sign-in asks for codes once one has been confirmed. Refused ' +
      'with 409 while another app is confirmed.',
    permission: null,
    entry: EnrolledTotp,
    run: async ({ db, caller, now, audit }) => {
      const { uid } = requireOwnSession(caller)
      const secret = toTotpSecret(new Uint8Array(randomBytes(TOTP_SECRET_BYTES)))
      const row = await insertTotp(db, { uid, secret, now })
      if (row === null) throw new ApiError('wrongState', { message: TOTP_THERE })
      await audit({ action: 'totp.enrol', target: `user:${uid}` })
      const account = (await findUser(db, uid))?.email ?? ''
      const issuer = `Souk ${new URL(baseUrl).host}`
      return [
        { secret, otpauth_url: otpauthUrl(secret, { account, issuer }), ...toTotpRecord(row) },
      ]
    },
  })

const TOTP_THERE = 'An authenticator app is set up already: remove it first'

const confirmTotp = ({ limits }: FactorDeps) =>
  action({
    ...{ id: 'confirmTotp', tag: 'account', method: 'POST', path: '/api/v1/me/totp/confirm/' },
    summary: 'Confirm an authenticator app with a code of it',
    permission: null,
    body: Type.Object({ totp: Type.String({ maxLength: CODE_LENGTH_MAX }) }),
    entry: TotpRecord,
    run: async ({ db, caller, now, body, audit }) => {
      const { uid } = requireOwnSession(caller)
      const held = await findTotp(db, uid)
      if (held === null) throw new ApiError('wrongState', { message: 'Set up an app first' })
      const used = await limits.runFactor(uid, async () => {
        const step = stepOfCode(held.secret, body.totp, now)
        return step !== null && (await spendTotpStep(db, { uid, step, now })) ? step : null
      })
      if (used === null) throw badRequest([{ field: 'totp', rule: CODE_RULE }])
      if (!held.is_confirmed) await audit({ action: 'totp.confirm', target: `user:${uid}` })
      return [toTotpRecord((await findTotp(db, uid)) ?? held)]
    },
  })

const CODE_RULE = 'is not the code that the app shows now, or was used before'

const REMOVE_TOTP = action({
  ...{ id: 'removeTotp', tag: 'account', method: 'DELETE', path: '/api/v1/me/totp/' },
  summary: 'Remove your authenticator app',
  description: 'Without any second factor left, recovery codes are removed too.',
  permission: null,
  entry: Type.Object({}),
  run: async ({ db, caller, audit }) => {
    const { uid } = requireOwnSession(caller)
    if (!(await deleteTotp(db, uid))) throw notFound('You have no authenticator app')
    await deleteUselessCodes(db, uid)
    await audit({ action: 'totp.remove', target: `user:${uid}` })
    return []
  },
})

export const PasskeyRecord = Type.Object({
  passkey_id: Type.Integer(),
  name: Type.String(),
  datetime_created: Time,
  datetime_updated: Time,
  datetime_last_used: TimeOrNull,
})

const toPasskeyRecord = (row: PasskeyRow): Static<typeof PasskeyRecord> => ({
  ...{ passkey_id: row.passkey_id, name: row.name },
  datetime_created: formatTimestamp(row.datetime_created),
  datetime_updated: formatTimestamp(row.datetime_updated),
  datetime_last_used: formatTimestampOrNull(row.datetime_last_used),
})

const LIST_PASSKEYS = list({
  ...{ id: 'listPasskeys', tag: 'account', path: '/api/v1/me/passkeys/' },
  summary: 'List your passkeys',
  permission: null,
  entry: PasskeyRecord,
  run: async ({ db, caller, query }) => {
    const after = Number(cursorId(query) ?? 0)
    const all = await listPasskeys(db, requireOwnSession(caller).uid)
    const rows = all.filter(({ passkey_id: id }) => id > after)
    return pageOf(rows, query.limit, { idOf: ({ passkey_id: id }) => id, toEntry: toPasskeyRecord })
  },
})

const askPasskey = ({ baseUrl }: FactorDeps) =>
  action({
    ...{ id: 'askPasskey', tag: 'account', method: 'POST', path: '/api/v1/me/passkeys/options/' },
    summary: 'Begin to add a passkey',
    description:
      'The answer is for `navigator.credentials.create`, in the form of `@simplewebauthn/browser`. ' +
      'It is valid for five minutes and replaces an earlier one.',
    permission: null,
    entry: RegistrationOptions,
    run: async ({ db, caller, now }) => {
      const { uid } = requireOwnSession(caller)
      const email = (await findUser(db, uid))?.email ?? ''
      const held = await listPasskeys(db, uid)
      const options = await registrationOptions({ uid, email }, { baseUrl, held })
      const expiresAt = new Date(now.getTime() + PASSKEY_MS)
      await setRegistration(db, { uid, challenge: options.challenge, expiresAt })
      return [options]
    },
  })

const addPasskey = ({ baseUrl }: FactorDeps) =>
  action({
    ...{ id: 'addPasskey', tag: 'account', method: 'POST', path: '/api/v1/me/passkeys/' },
    summary: 'Add the passkey that the browser has made',
    description: `At most ${PASSKEYS_MAX} for one user. From then on sign-in asks for one.`,
    permission: null,
    status: 201,
    bodyBytesMax: PASSKEY_BYTES_MAX,
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: PASSKEY_NAME_LENGTH_MAX }),
      passkey: RegistrationResponse,
    }),
    entry: PasskeyRecord,
    run: async ({ db, caller, now, body, audit }) => {
      const { uid } = requireOwnSession(caller)
      const name = body.name.trim()
      if (name === '') throw badRequest([{ field: 'name', rule: 'must not be only spaces' }])
      const challenge = await takeRegistration(db, { uid, now })
      if (challenge === null) throw new ApiError('wrongState', { message: NO_REGISTRATION })
      const made = await checkRegistration(body.passkey, { baseUrl, challenge })
      if (made === null) throw badRequest([{ field: 'passkey', rule: PASSKEY_RULE }])
      const row = await insertPasskey(db, { ...made, uid, name, now })
      if (row === null) throw new ApiError('wrongState', { message: PASSKEY_REFUSED })
      await audit({ action: 'passkey.add', target: `user:${uid}`, after: { name } })
      return [toPasskeyRecord(row)]
    },
  })

const NO_REGISTRATION = 'No passkey is being added, or five minutes have passed: begin again'
const PASSKEY_RULE = 'is not an answer to the options that were asked for last'
const PASSKEY_REFUSED = `This passkey is known already, or you have ${PASSKEYS_MAX}: remove one first`

const REMOVE_PASSKEY = action({
  ...{ id: 'removePasskey', tag: 'account', method: 'DELETE' },
  path: '/api/v1/me/passkeys/:passkey_id/',
  summary: 'Remove a passkey',
  description: 'Without any second factor left, recovery codes are removed too.',
  permission: null,
  params: Type.Object({ passkey_id: smallId }),
  entry: Type.Object({}),
  run: async ({ db, caller, params, audit }) => {
    const { uid } = requireOwnSession(caller)
    const name = await deletePasskey(db, { uid, passkeyId: params.passkey_id })
    if (name === null) throw notFound('No such passkey of yours')
    await deleteUselessCodes(db, uid)
    await audit({ action: 'passkey.remove', target: `user:${uid}`, before: { name } })
    return []
  },
})

const READ_RECOVERY_CODES = action({
  ...{ id: 'readRecoveryCodes', tag: 'account', method: 'GET' },
  path: '/api/v1/me/recovery_codes/',
  summary: 'How many recovery codes are left',
  permission: null,
  entry: Type.Object({ left: Type.Integer() }),
  run: async ({ db, caller }) => {
    const factors = await readFactors(db, requireOwnSession(caller).uid)
    return [{ left: factors.recovery_codes }]
  },
})

const NEW_RECOVERY_CODES = action({
  ...{ id: 'makeRecoveryCodes', tag: 'account', method: 'POST' },
  path: '/api/v1/me/recovery_codes/',
  summary: `Get ${RECOVERY_CODES} new recovery codes`,
  description:
    'They are shown this once and replace all earlier ones. Each signs in once in place of a ' +
    'second factor.',
  permission: null,
  entry: Type.Object({ recovery_codes: Type.Array(Type.String()) }),
  run: async ({ db, caller, audit }) => {
    const { uid } = requireOwnSession(caller)
    const codes = Array.from({ length: RECOVERY_CODES }, () =>
      toRecoveryCode(randomBytes(RECOVERY_CODE_BYTES)),
    )
    await replaceRecoveryCodes(db, { uid, hashes: codes.map(hashRecoveryCode) })
    await audit({ action: 'recovery_codes.make', target: `user:${uid}` })
    return [{ recovery_codes: codes }]
  },
})
