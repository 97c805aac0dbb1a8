/**
 * What a reader allowed (decisions 4.6, Privacy). The tag says what the page's consent tools say;
 * the browser's own signals are read here as well and always win.
 */
import type { IncomingHttpHeaders } from 'node:http'

/** Stored: never reuse a number. */
export const CONSENT = { unknown: 0, full: 1, contextual: 2 } as const
export type ConsentWord = keyof typeof CONSENT

/** What a page may say. */
export const CONSENT_WORDS = ['full', 'contextual', 'unknown'] as const satisfies ConsentWord[]

/** For the API's reference. */
export const CONSENT_TOLD =
  'What the reader allowed: full, or contextual (no visitor, no cookie); unknown or absent: the ' +
  'publisher’s default. GPC and DNT of the browser win'

export const CONSENT_SOURCES = ['tcf', 'gpp', 'gpc', 'page'] as const

/** Absent says nothing. Any other word is refused: a reader's no, misspelt, must not be a yes. */
export function isConsentSaid(said: string | undefined): said is ConsentWord | undefined {
  return said === undefined || Object.hasOwn(CONSENT, said)
}

/**
 * The consent that holds for a request: 1 full, 2 contextual.
 * `said` is the `consent` the client sent; absent or unknown falls to the publisher's default.
 */
export function consentOf(
  said: string | undefined,
  { headers, byDefault }: { headers: IncomingHttpHeaders; byDefault: 'full' | 'contextual' },
): number {
  if (isObjecting(headers)) return CONSENT.contextual
  if (said === 'full') return CONSENT.full
  if (said === 'contextual') return CONSENT.contextual
  return CONSENT[byDefault]
}

/** What was allowed at an auction holds on, unless the browser objects by now. */
export function consentNow(allowed: number, headers: IncomingHttpHeaders): number {
  return isObjecting(headers) ? CONSENT.contextual : allowed
}

/** Whether the reader's browser objects by itself: Global Privacy Control, or Do Not Track. */
function isObjecting(headers: IncomingHttpHeaders): boolean {
  return headers['sec-gpc'] === '1' || headers.dnt === '1'
}

/** The word for a consent that held; an auction's is never unknown. */
export function consentWord(consent: number): ConsentWord {
  return consent === CONSENT.full ? 'full' : 'contextual'
}
