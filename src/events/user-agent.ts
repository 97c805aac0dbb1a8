/**
 * What kind of reader sent a request: a person, a declared robot, a prefetch or a page for itself,
 * and on which class of device. Only the class and the family are stored, never the string (privacy
 * by construction).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { createIsbotFromList, isbot, list as isbotList } from 'isbot'
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
  const agent = { isRobot: isRobot(text), device: device(text), family: family(text) }
  seen.set(text, agent)
  return agent
}

/**
 * HTTP libraries and office programs that isbot 5.2 takes for browsers. An app that fetches a link
 * with the library of its platform is no reader; its web view sends a browser's string.
 */
const PROGRAM = new RegExp(
  [
    ...[/^Dart\//, /\bCFNetwork\//, /\bAlamofire\//, /^Dalvik\//, /PowerShell\//],
    ...[/\bms-?office\b/, /\bMicrosoft (?:Office|Outlook|Word|Excel|PowerPoint|OneNote)\b/],
    ...[/^MacOutlook\//, /^aws-(?:sdk|cli)/, /^rusoto\b/, /^ReactorNetty\//, /^Apache-CXF\//],
    ...[/\bgo1\.\d/, /\bminio-go\b/, /^JetS3t\//, /^s3fs\//],
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

/**
 * Patterns of isbot that mean something else in the browser of a phone, a tablet or a television:
 * an in-app browser such as AppleNews, the package name of an app, the firmware of a device.
 */
const MISLEADING_ON_DEVICES: ReadonlySet<string> = new Set([
  ...['(?:^|[^g])news(?!sapphire)', '(?<! channel/|google/)google(?!(?:wv|app|/google| pixel))'],
  ...['java(?!;)', '\\b\\w+/1\\.0;', 'radar', '\\|', '\\(\\)', ';\\s\\w+;$', '^[^ ]{50,}$'],
])
const DEVICE_BROWSER =
  /^(?:Mozilla|Opera)\/\d.*(?:iPhone|iPad|iPod|Android|Windows Phone|Series[346]0|SymbianOS|Bada|MIDP|BREW|HbbTV|Google ?TV|Nintendo)/i
const isRobotOnDevice = createIsbotFromList(
  isbotList.filter((pattern) => !MISLEADING_ON_DEVICES.has(pattern)),
)

function isRobot(text: string): boolean {
  if (text === '' || PROGRAM.test(text)) return true
  return DEVICE_BROWSER.test(text) ? isRobotOnDevice(text) : isbot(text)
}

const PURPOSE_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const
const AHEAD_OF_A_CLICK = /pre-?(?:fetch|render|view)/i

/** A prefetch or a link preview: nobody clicked (docs/spec/clicks.md#prefetches-and-previews). */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  return PURPOSE_HEADERS.some((name) => AHEAD_OF_A_CLICK.test(String(headers[name] ?? '')))
}

/**
 * A link that a page loads inside itself: in a frame, as an image, by a script. Such a load is no
 * click, with a user gesture or without: a gesture elsewhere on the page must not make a hidden
 * frame pay (docs/spec/clicks.md#frames). A client that sends no header is not judged by it.
 */
export function isEmbedded(headers: IncomingHttpHeaders): boolean {
  const destination = headers['sec-fetch-dest']
  return destination !== undefined && destination !== 'document'
}

function device(text: string): number {
  if (text === '') return DEVICE.unknown
  // Old Windows reports as `Tablet PC` that it could be used with a pen.
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
