/**
 * What a reader consented to. The tag reports the page's consent tools; the browser's own signals
 * are read here and always win.
 */
import type { IncomingHttpHeaders } from 'node:http'

/** Stored: never reuse a number. */
export const CONSENT = { unknown: 0, full: 1, contextual: 2 } as const
export type ConsentWord = keyof typeof CONSENT

/** The words that a page may send. */
export const CONSENT_WORDS = ['full', 'contextual', 'unknown'] as const satisfies ConsentWord[]

/** For the API reference. */
export const CONSENT_DESCRIPTION =
  'What the reader allowed: full, or contextual (no visitor, no cookie); unknown or absent: the ' +
  'publisher’s default. GPC and DNT of the browser win'

export const CONSENT_SOURCES = ['tcf', 'gpp', 'gpc', 'page'] as const

/**
 * Absent says nothing. Any other word is refused, so that a misspelt refusal is never taken for
 * consent.
 */
export function isConsentSaid(said: string | undefined): said is ConsentWord | undefined {
  return said === undefined || Object.hasOwn(CONSENT, said)
}

/**
 * The consent in force for a request: 1 full, 2 contextual. `said` is the client's `consent`; if
 * absent or unknown, the publisher's default applies.
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

/** The consent of the auction stays in force unless the browser objects by now. */
export function consentNow(allowed: number, headers: IncomingHttpHeaders): number {
  return isObjecting(headers) ? CONSENT.contextual : allowed
}

/** Whether the browser objects by itself: Global Privacy Control or Do Not Track. */
function isObjecting(headers: IncomingHttpHeaders): boolean {
  return headers['sec-gpc'] === '1' || headers.dnt === '1'
}

/** The word for a consent in force; an auction's is never unknown. */
export function consentWord(consent: number): ConsentWord {
  return consent === CONSENT.full ? 'full' : 'contextual'
}
