/** The patterns that schemas hold texts to, with the words in which a refusal names each. */

/** Our choice: of any version. Whatever a page's own tool makes, it names one page session. */
export const UUID_PATTERN =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
/** A 64-bit integer's digits; that it is not too large `idText` says. */
export const ID_PATTERN = '^[1-9][0-9]{0,18}$'
export const ID_RULE = 'must be a positive 64-bit integer'
export const CURRENCY_PATTERN = '^[A-Z]{3}$'

const RULES = new Map([
  [UUID_PATTERN, 'must be a UUID'],
  [ID_PATTERN, ID_RULE],
  [CURRENCY_PATTERN, 'must be an ISO 4217 code of three capitals'],
])

/** What a pattern wants, for people; the pattern itself when it has no words. */
export function patternRule(pattern: string): string {
  return RULES.get(pattern) ?? `must match ${pattern}`
}
