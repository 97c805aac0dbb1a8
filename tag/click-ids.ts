/**
 * The click ids a shop remembers for its visitors: first-party, newest first, no longer than the
 * merchant's window (economics 4, attribution step 2).
 *
 * A cookie rather than local storage, because checkouts often live on another host of the same
 * shop. Browsers may shorten its life (tag/README.md); a server-to-server call is the remedy.
 */

const COOKIE = 'souk_clicks'
/** 32 lower-case hex characters, as the redirect mints them: nothing else is kept. */
const CLICK_ID = /^[0-9a-f]{32}$/
const ID_LENGTH = 32
/** Twenty are under 1 kB, which every request to the shop carries. */
const CLICK_IDS_MAX = 20
const DAY_SECONDS = 86_400
const BASE = 36

export interface ClickIds {
  /** Whether the reader landed on this page, with an id that was not known. */
  readonly _isLanding: boolean
  /** Newest first. */
  _list(): string[]
}

/** Keeps the click id that the landing address carries in `parameter`, if any. */
export const openClickIds = (parameter: string, windowDays: number): ClickIds => {
  const windowSeconds = windowDays * DAY_SECONDS
  const list = (): string[] => {
    const ids: string[] = []
    for (const click of read(windowSeconds)) ids.push(idOf(click))
    return ids
  }
  // A shop's own script may have tidied the address before this one came to it.
  const [page] = performance.getEntriesByType('navigation')
  // The other name of `URL`: pages call variables of their own so.
  const told = new webkitURL(page?.name || location.href).searchParams.get(parameter)
  /** The click that led here, if any. */
  const id = CLICK_ID.exec(`${told}`)?.[0]
  // A reload of the landing page must not make an old click young again.
  const _isLanding = !!id && !list().includes(id)
  if (_isLanding) {
    write([`${id}.${nowSeconds().toString(BASE)}`, ...read(windowSeconds)], windowSeconds)
  }
  return {
    _isLanding,
    _list() {
      const ids = list()
      // Where cookies are refused, the page of the landing knows its own.
      if (id && !ids.includes(id)) ids.push(id)
      return ids
    },
  }
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** A click is kept as its id, a dot, and when it came, in seconds. */
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

/** Written for the widest domain the browser allows: the shop's own, below the public suffix. */
const write = (clicks: string[], windowSeconds: number): void => {
  const cookie = `${COOKIE}=${clicks.slice(0, CLICK_IDS_MAX).join('~')}`
  const secure = location.protocol === 'https:' ? ';secure' : ''
  const labels = location.hostname.split('.')
  // The last label alone is never a shop's; Firefox tells the shop's developer of each refusal.
  for (let first = labels.length - 2; first >= -1; first--) {
    const domain = first < 0 ? '' : `;domain=${labels.slice(first).join('.')}`
    const terms = `;path=/;samesite=lax;max-age=${windowSeconds}${domain}${secure}`
    if (cookies(cookie + terms).includes(cookie)) return
  }
}

/** The page's cookies, after a change if any; none where it may not even ask, as in a sandbox. */
const cookies = (change = ''): string => {
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
    if (change) document.cookie = change
    return document.cookie
  } catch {
    return ''
  }
}
