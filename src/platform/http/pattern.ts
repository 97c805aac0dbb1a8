/** Patterns for texts in schemas, with the words for their error messages. */

/** Our choice: a UUID of any version, because pages generate their own page session ids. */
export const UUID_PATTERN =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
/** The digits of a 64-bit integer; `idText` checks its size. */
export const ID_PATTERN = '^[1-9][0-9]{0,18}$'
export const ID_RULE = 'must be a positive 64-bit integer'
export const CURRENCY_PATTERN = '^[A-Z]{3}$'

const RULES = new Map([
  [UUID_PATTERN, 'must be a UUID'],
  [ID_PATTERN, ID_RULE],
  [CURRENCY_PATTERN, 'must be an ISO 4217 code of three capitals'],
])

/** The rule in words; the pattern itself if it has no words. */
export function patternRule(pattern: string): string {
  return RULES.get(pattern) ?? `must match ${pattern}`
}
