/**
 * Stores the click ids of a shop's visitors: first-party, newest first, for the merchant's
 * attribution window.
 *
 * A cookie rather than local storage, because a checkout often runs on another host of the same
 * shop. Browsers may shorten its life (tag/README.md); reporting orders from the shop's server
 * avoids that.
 */

const COOKIE = 'souk_clicks'
/** 32 lower-case hex characters, the format of the redirect; anything else is ignored. */
const CLICK_ID = /^[0-9a-f]{32}$/
const ID_LENGTH = 32
/** Twenty ids are under 1 kB. Each request to the shop carries them. */
const CLICK_IDS_MAX = 20
const DAY_SECONDS = 86_400
const BASE = 36

export interface ClickIds {
  /** True when the reader landed on this page with a new click id. */
  readonly _isLanding: boolean
  /** Newest first. */
  _list(): string[]
}

/** Stores the click id that the landing URL carries in `parameter`, if any. */
export const openClickIds = (parameter: string, windowDays: number): ClickIds => {
  const windowSeconds = windowDays * DAY_SECONDS
  const list = (): string[] => {
    const ids: string[] = []
    for (const click of read(windowSeconds)) ids.push(idOf(click))
    return ids
  }
  // A shop's own script may have removed the parameter before the tag loaded.
  const [page] = performance.getEntriesByType('navigation')
  // An alias of `URL`, because pages define variables named `URL`.
  const given = new webkitURL(page?.name || location.href).searchParams.get(parameter)
  /** The click id in the landing URL, if any. */
  const id = CLICK_ID.exec(`${given}`)?.[0]
  // Reloading the landing page must not renew an old click.
  const _isLanding = !!id && !list().includes(id)
  if (_isLanding) {
    write([`${id}.${nowSeconds().toString(BASE)}`, ...read(windowSeconds)], windowSeconds)
  }
  return {
    _isLanding,
    _list() {
      const ids = list()
      // Without cookies, only the landing page itself knows its click.
      if (id && !ids.includes(id)) ids.push(id)
      return ids
    },
  }
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** A stored click is its id, a dot and its time in seconds. */
const idOf = (click: string): string => click.slice(0, ID_LENGTH)

const read = (windowSeconds: number): string[] => {
  const clicks: string[] = []
  const kept = new RegExp(`(^|; )${COOKIE}=([^;]*)`).exec(cookies())?.[2] || ''
  for (const click of kept.split('~')) {
    const seconds = parseInt(click.slice(ID_LENGTH + 1), BASE)
    if (CLICK_ID.test(idOf(click)) && seconds > nowSeconds() - windowSeconds) clicks.push(click)
  }
  return clicks
}

/** Uses the widest domain that the browser allows: the shop's own, below the public suffix. */
const write = (clicks: string[], windowSeconds: number): void => {
  const cookie = `${COOKIE}=${clicks.slice(0, CLICK_IDS_MAX).join('~')}`
  const secure = location.protocol === 'https:' ? ';secure' : ''
  const labels = location.hostname.split('.')
  // Skips the top-level label, which is never the shop's; Firefox logs each rejected attempt.
  for (let first = labels.length - 2; first >= -1; first--) {
    const domain = first < 0 ? '' : `;domain=${labels.slice(first).join('.')}`
    const terms = `;path=/;samesite=lax;max-age=${windowSeconds}${domain}${secure}`
    if (cookies(cookie + terms).includes(cookie)) return
  }
}

/** Sets a cookie if given, and returns the page's cookies; empty where a sandbox forbids access. */
const cookies = (change = ''): string => {
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
    if (change) document.cookie = change
    return document.cookie
  } catch {
    return ''
  }
}
