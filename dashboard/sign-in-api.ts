/** The API calls for signing in, and on one's own sign-in: password, sessions, second factors. */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import type { Static } from 'typebox'
import type { EnrolledTotp, PasskeyRecord } from '../src/accounts/sign-in/factor-operations.ts'
import type { SessionRecord } from '../src/accounts/sign-in/me-operations.ts'
import type {
  FactorNeededRecord,
  SignInWays as SignInWaysRecord,
} from '../src/accounts/sign-in/session-routes.ts'
import { all, call, first, post, remember, SESSION, send, type User } from './api.ts'

export type SignInWays = Static<typeof SignInWaysRecord>
export type FactorNeeded = Static<typeof FactorNeededRecord>
export type Session = Static<typeof SessionRecord>
export type Passkey = Static<typeof PasskeyRecord>

/** A password, or the second factor after it. */
export type Credentials =
  | { readonly email: string; readonly password: string }
  | { readonly challenge: string; readonly totp: string }
  | { readonly challenge: string; readonly recovery_code: string }
  | { readonly challenge: string; readonly passkey: AuthenticationResponseJSON }

export const signIn = {
  ways: () => first<SignInWays>(SESSION),
  /** The user, or the second factor that is needed. */
  logIn: async (body: Credentials): Promise<User | FactorNeeded> => {
    const answer = await post<User | FactorNeeded>(SESSION, body)
    return 'challenge' in answer ? answer : remember(answer)
  },
  requestReset: (email: string) => post<object>(`${SESSION}password_reset/`, { email }),
  setPassword: (body: { token: string; password: string }) =>
    post<object>(`${SESSION}password/`, body),
  changeMe: (body: { name: string } | { current_password: string; password: string }) =>
    send<User>(ME, 'PATCH', body),
  sessions: () => all<Session>(`${SESSION}all/`),
  endSession: (id: number) => call<object>(`${SESSION}all/${id}/`, { method: 'DELETE' }),
  enrolTotp: () => post<Static<typeof EnrolledTotp>>(`${ME}totp/`, {}),
  confirmTotp: (totp: string) => post<object>(`${ME}totp/confirm/`, { totp }),
  removeTotp: () => call<object>(`${ME}totp/`, { method: 'DELETE' }),
  passkeys: () => all<Passkey>(`${ME}passkeys/`),
  passkeyOptions: () => post<PublicKeyCredentialCreationOptionsJSON>(`${ME}passkeys/options/`, {}),
  addPasskey: (body: { name: string; passkey: RegistrationResponseJSON }) =>
    post<Passkey>(`${ME}passkeys/`, body),
  removePasskey: ({ passkey_id: id }: Passkey) =>
    call<object>(`${ME}passkeys/${id}/`, { method: 'DELETE' }),
  newRecoveryCodes: async () =>
    (await post<{ recovery_codes: string[] }>(`${ME}recovery_codes/`, {})).recovery_codes,
}

const ME = '/api/v1/me/'

/** For the browser's own dialog. */
export const passkeyOptionsOf = (needed: FactorNeeded) =>
  needed.passkey_options as PublicKeyCredentialRequestOptionsJSON | null
