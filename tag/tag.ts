/**
 * The page tag: `<script async src="{base_url}/tag/souk.js" data-publisher="SLUG"></script>`.
 *
 * Start here. It asks the service who the publisher is, waits for the reader's consent, begins a
 * page session, finds the page's links, runs their auctions and sends what happened. It never
 * throws into the page, and whatever fails, every link still works.
 */
import { watchConsent } from './consent.ts'
import { articleAddress, heard, watchPage } from './navigation.ts'
import { type PageLinks, watchLinks } from './page-links.ts'
import { beginSession, type Parts } from './page-session.ts'
import { makeQueue, REPEATS } from './request-queue.ts'
import { readService, type Service } from './settings.ts'
import type { SoukGlobal } from './souk-global.ts'

/** A merchant that joins earns on open pages so much later. */
const CONFIGURE_MS = 300_000

const main = async (settings: SoukGlobal): Promise<void> => {
  let script = document.currentScript as HTMLScriptElement | null
  // An image or a form whose name is `currentScript` has that place, and no text of its own.
  if (script?.text == null) script = document.querySelector('script[data-publisher]')
  if (!script) return
  const slug = script.dataset.publisher || settings.publisher
  // A second copy of the tag on a page does nothing, also where the page runs its scripts again.
  if (!slug || navigator.souk) return
  const queue = makeQueue()
  const parts = { _settings: settings, _queue: queue } as Parts
  navigator.souk = parts
  const base = script.src.split('/tag/souk')[0] as string
  // A prerendered page may never be looked at.
  if ((document as { prerendering?: boolean }).prerendering) await heard('prerenderingchange')
  if (document.readyState === 'loading') await heard('DOMContentLoaded')
  const configure: Configure = (done) =>
    queue._add({
      _url: `${base}/api/v0/publishers/${slug}/amp_config/?page_tag=1`,
      _done: (answer) => done(readService(answer, base)),
      _again: REPEATS,
    })
  ;[parts._service, parts._consent] = await Promise.all([
    new Promise<Service>(configure),
    watchConsent(),
  ])

  work(parts, settings, configure)
  if (location.hash === '#souk-debug') await import(`${base}/tag/souk-debug.js`)
}

type Configure = (done: (service: Service) => void) => void

/** Works on the present article and on every later one. */
const work = (parts: Parts, settings: SoukGlobal, configure: Configure): void => {
  let links: PageLinks | undefined
  /** By article, as long as the reader only scrolls from one to another. */
  let sessions: Record<string, PageLinks> = {}
  let previousUrl = document.referrer
  let sourceUrl = location.href
  const land = (isScroll?: boolean): void => {
    leave()
    links?._end()
    // A page that comes back from the back/forward cache was reached as it was at first.
    if (sourceUrl !== location.href) previousUrl = sourceUrl
    sourceUrl = location.href
    // The page may have written a new object for this article, or keep one that nobody may change.
    if (settings !== window.souk) parts._settings = settings = { ...settings, ...window.souk }
    if (!isScroll) sessions = {}
    const article = articleAddress()
    links = sessions[article]
    if (!links?._isThere()) links = watchLinks(parts, beginSession(parts, previousUrl))
    sessions[article] = links
    look()
  }
  const look = (): void => {
    links?._begin()
    scan()
  }
  const leave = (): void => {
    links?._flush()
    parts._queue._flush()
  }

  const scan = guarded(() => {
    if (links?._scan()) setTimeout(scan)
  })

  watchPage(guarded(land), scan)
  addEventListener('pagehide', guarded(leave))
  land()
  let { merchants_version: version } = parts._service
  setInterval(() => {
    if (document.hidden) return
    configure(({ merchants_version }) => {
      // biome-ignore lint/suspicious/noAssignInExpressions: the shortest way to say it
      if (version === (version = merchants_version)) return
      links?._end()
      look()
    })
  }, CONFIGURE_MS)
}

/** Nothing that goes wrong in here is the page's concern. */
const guarded =
  <T>(work: (of?: T) => void) =>
  (of?: T): void => {
    try {
      work(of)
    } catch {
      // The page stays as it is.
    }
  }

main(
  // biome-ignore lint/suspicious/noAssignInExpressions: the shortest way to say it
  (window.souk ||= {}),
).catch(() => {
  // No service, no consent tools that work, an old browser: the page stays as it is.
})
