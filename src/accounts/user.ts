/** Which e-mail addresses, passwords and key labels are refused. */

import type { Fault } from '../platform/errors/api-errors.ts'
import { characterCount } from '../platform/text/characters.ts'
import { isCommonPassword } from './common-password.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './password.ts'

export const EMAIL_LENGTH_MAX = 254 // RFC 5321: the longest address that can receive mail.
export const DESCRIPTION_LENGTH_MAX = 255
export const USER_NAME_LENGTH_MAX = 255
const DESCRIPTION_RULE = `must have 1 to ${DESCRIPTION_LENGTH_MAX} characters, not only spaces`

export interface UserChanges {
  readonly email?: string | undefined
  readonly password?: string | undefined
}

/** Every reason to refuse this e-mail address and password, as far as they are given. */
export async function userFaults({ email, password }: UserChanges): Promise<Fault[]> {
  const faults: Fault[] = []
  if (email !== undefined && !isEmail(email)) {
    faults.push({ field: 'email', rule: 'must be an e-mail address' })
  }
  const rule = password === undefined ? null : await passwordRule(password)
  if (rule !== null) faults.push({ field: 'password', rule })
  return faults
}

/** Every reason to refuse a person's name. */
export function nameFaults({ name }: { readonly name?: string | undefined }): Fault[] {
  const length = name === undefined ? 1 : characterCount(name.trim())
  if (length >= 1 && length <= USER_NAME_LENGTH_MAX) return []
  return [{ field: 'name', rule: `must have 1 to ${USER_NAME_LENGTH_MAX} characters` }]
}

/** The reason to refuse a password; null if it is accepted. */
async function passwordRule(password: string): Promise<string | null> {
  const length = characterCount(password)
  if (length < PASSWORD_LENGTH_MIN || password.length > PASSWORD_LENGTH_MAX) {
    return `must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`
  }
  return (await isCommonPassword(password)) ? COMMON_RULE : null
}

const COMMON_RULE = 'is among the passwords that attackers try first; choose a longer, unusual one'

export function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= EMAIL_LENGTH_MAX
}

/** Every reason to refuse a key with this label and expiry. */
export function keyFaults(
  { description, expiresAt }: { description: string; expiresAt: Date | null },
  now: Date,
): Fault[] {
  const faults: Fault[] = []
  if (description.trim() === '' || characterCount(description) > DESCRIPTION_LENGTH_MAX) {
    faults.push({ field: 'description', rule: DESCRIPTION_RULE })
  }
  if (expiresAt !== null && expiresAt <= now) {
    faults.push({ field: 'expires', rule: 'is in the past: the key would never work' })
  }
  return faults
}
