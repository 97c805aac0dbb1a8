/**
 * What kind of reader sent a request: a person, a declared robot, a prefetch or a page for itself,
 * and on which class of device. Only the class and the family are kept, never the string (privacy
 * by construction).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isbot } from 'isbot'
import { LRUCache } from 'lru-cache'

/** Stored: never reuse a number. The bits of campaigns' device masks are 1 << (number - 1). */
export const DEVICE = { unknown: 0, desktop: 1, mobile: 2, tablet: 3 } as const
/** What a campaign may be aimed at. */
export type Device = Exclude<keyof typeof DEVICE, 'unknown'>

/** `3` → `"tablet"`. */
export function deviceWord(device: number): string {
  return Object.entries(DEVICE).find(([, number]) => number === device)?.[0] ?? 'unknown'
}

export interface UserAgent {
  readonly isRobot: boolean
  readonly device: number
  readonly family: string
}

// A day's traffic has a few thousand distinct strings; isbot's one expression takes ~5 µs each.
const seen = new LRUCache<string, UserAgent>({ max: 5_000 })
/** No browser sends more; a longer one is judged by its beginning. */
const LENGTH_MAX = 512

export function readUserAgent(header: string | undefined): UserAgent {
  const text = (header ?? '').slice(0, LENGTH_MAX)
  const known = seen.get(text)
  if (known !== undefined) return known
  const agent = { isRobot: text === '' || isbot(text), device: device(text), family: family(text) }
  seen.set(text, agent)
  return agent
}

/** A page fetched ahead by a browser: nobody clicked (decisions, Redirect). */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purpose = `${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''} ${headers['x-moz'] ?? ''}`
  return /prefetch|prerender|preview/i.test(purpose)
}

/**
 * A link that a page loads as one of its parts: a picture, a script, a frame that nobody clicked
 * in. Our choice: no click, because so pages have their readers "click" without knowing. Browsers
 * say what they load for; those that do not, and other programs, are taken at their word.
 */
export function isEmbedded(headers: IncomingHttpHeaders): boolean {
  const { 'sec-fetch-dest': part = 'document', 'sec-fetch-user': clicked } = headers
  return part !== 'document' && clicked !== '?1'
}

function device(text: string): number {
  if (text === '') return DEVICE.unknown
  // Old Windows tells as `Tablet PC` that it could be used with a pen.
  if (/iPad|Tablet(?! PC)|PlayBook|Silk/.test(text)) return DEVICE.tablet
  if (/Mobi|iPhone|iPod|Opera Mini/.test(text)) return DEVICE.mobile
  // Phones say `Mobile`, often before an app names Android again.
  return text.includes('Android') ? DEVICE.tablet : DEVICE.desktop
}

// Order matters: most browsers also claim to be Chrome or Safari.
const FAMILIES: readonly (readonly [string, RegExp])[] = [
  ['Edge', /\bEdgA?(?:iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /SamsungBrowser\//],
  ['Firefox', /Firefox\/|FxiOS\//],
  ['Chrome', /Chrome\/|CriOS\//],
  ['Safari', /Safari\//],
]

function family(text: string): string {
  return FAMILIES.find(([, pattern]) => pattern.test(text))?.[0] ?? 'Other'
}
