/** Time zones by their IANA name, such as `Asia/Kolkata`. */

export const TIME_ZONE_RULE = 'must be the IANA name of a time zone, such as Europe/Berlin or UTC'
/** The longest name has 32 characters. */
const NAME_LENGTH_MAX = 64
/** Offsets such as +05:30 are no names: they know no summer time. */
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]*$/

export function isTimeZone(name: string): boolean {
  if (name.length > NAME_LENGTH_MAX || !NAME.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
