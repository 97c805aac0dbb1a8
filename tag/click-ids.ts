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
/** Twenty are under 1 kB, which every request to the shop carries. */
const CLICK_IDS_MAX = 20
const DAY_SECONDS = 86_400

interface KeptClick {
  _id: string
  _atSeconds: number
}

/** Keeps the click id that the landing address carries in `parameter`, if any. */
export const rememberLanding = (parameter: string, windowDays: number): boolean => {
  const id = new URLSearchParams(location.search).get(parameter) || ''
  const nowSeconds = Math.floor(Date.now() / 1000)
  const kept = read(nowSeconds - windowDays * DAY_SECONDS)
  const isNew = CLICK_ID.test(id) && !kept.some(({ _id }) => _id === id)
  // A reload of the landing page must not make an old click young again.
  if (isNew) write([{ _id: id, _atSeconds: nowSeconds }, ...kept], windowDays)
  return isNew
}

/** Newest first. */
export const clickIds = (windowDays: number): string[] =>
  read(Date.now() / 1000 - windowDays * DAY_SECONDS).map(({ _id }) => _id)

const read = (sinceSeconds: number): KeptClick[] => {
  const text = new RegExp(`(^|; )${COOKIE}=([^;]*)`).exec(document.cookie)?.[2] || ''
  return text
    .split('~')
    .map((entry) => {
      const [_id = '', at = ''] = entry.split('.')
      return { _id, _atSeconds: parseInt(at, 36) }
    })
    .filter(({ _id, _atSeconds }) => CLICK_ID.test(_id) && _atSeconds > sinceSeconds)
}

/** Written for the widest domain the browser allows: the shop's own, below the public suffix. */
const write = (clicks: KeptClick[], windowDays: number): void => {
  const value = clicks
    .slice(0, CLICK_IDS_MAX)
    .map(({ _id, _atSeconds }) => `${_id}.${_atSeconds.toString(36)}`)
    .join('~')
  const secure = location.protocol === 'https:' ? ';secure' : ''
  const labels = location.hostname.split('.')
  for (let first = labels.length - 1; first >= -1; first--) {
    const domain = first < 0 ? '' : `;domain=${labels.slice(first).join('.')}`
    const cookie = `${COOKIE}=${value}`
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
    document.cookie = `${cookie};path=/;samesite=lax;max-age=${windowDays * DAY_SECONDS}${domain}${secure}`
    if (document.cookie.includes(cookie)) return
  }
}
