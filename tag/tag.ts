/**
 * The page tag: `<script async src="{base_url}/tag/souk.js" data-publisher="SLUG"></script>`.
 *
 * Start here. It loads the publisher's configuration, waits for the reader's consent, starts a page
 * session, finds the page's links, runs their auctions and reports events. It never throws into the
 * page, and after any failure every link still works.
 */
import { watchConsent } from './consent.ts'
import { articleAddress, heard, watchPage } from './navigation.ts'
import { type PageLinks, watchLinks } from './page-links.ts'
import { beginSession, type Parts } from './page-session.ts'
import { makeQueue, REPEATS } from './request-queue.ts'
import { readService, type Service } from './settings.ts'
import type { SoukGlobal } from './souk-global.ts'

/** How often an open page reads its configuration, and so notices new merchants. */
const CONFIGURE_MS = 300_000

const main = async (settings: SoukGlobal): Promise<void> => {
  let script = document.currentScript as HTMLScriptElement | null
  // An image or form named `currentScript` shadows that property and has no `text`.
  if (script?.text == null) script = document.querySelector('script[data-publisher]')
  if (!script) return
  const slug = script.dataset.publisher || settings.publisher
  // A second copy of the tag does nothing, also where the page runs its scripts again.
  if (!slug || navigator.souk) return
  const queue = makeQueue()
  const parts = { _settings: settings, _queue: queue } as Parts
  navigator.souk = parts
  const base = script.src.split('/tag/souk')[0] as string
  // A prerendered page may never be shown.
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

/** Handles the current article and every later one. */
const work = (parts: Parts, settings: SoukGlobal, configure: Configure): void => {
  let links: PageLinks | undefined
  /** By article, while the reader only scrolls from one to another. */
  let sessions: Record<string, PageLinks> = {}
  let previousUrl = document.referrer
  let sourceUrl = location.href
  const land = (isScroll?: boolean): void => {
    leave()
    links?._end()
    // Back from the back/forward cache: restores how the page was first reached.
    if (sourceUrl !== location.href) previousUrl = sourceUrl
    sourceUrl = location.href
    // The page may have set a new object for this article, or a frozen one.
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

/** No failure in here may reach the page. */
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
  // No service, a broken consent tool or an old browser: the page stays as it is.
})
