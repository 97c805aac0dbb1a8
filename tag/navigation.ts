/**
 * Detects when a reader lands on a page.
 *
 * A landing is the first load, the activation of a prerendered page, a return from the back/forward
 * cache, or another article in a single-page application.
 */
import { gather } from './gather.ts'

interface BrowserWindow {
  navigation: EventTarget
}

/** Resolves at the page's next event of this type. */
export const heard = (type: string): Promise<unknown> =>
  new Promise((resolve) => document.addEventListener(type, resolve))

/**
 * How long changes are collected before the page is scanned. Frameworks change hundreds of nodes at
 * a time; single-page applications change the URL first and the article soon after.
 */
const SETTLE_MS = 200

/** A page with one article below the other changes its URL within this time after a scroll. */
const SCROLL_MS = 1500

/**
 * Calls `land` for every landing after the first, and `scan` after other changes of the page.
 * `land` gets whether the reader only scrolled to another article. The page's `history` functions
 * are never replaced: without the Navigation API, changed nodes reveal a changed URL.
 */
export const watchPage = (land: (isScroll?: boolean) => void, scan: () => void): void => {
  let article = articleAddress()
  let scrolledMs = 0
  const look = gather(() => {
    // biome-ignore lint/suspicious/noAssignInExpressions: the shortest way to say it
    if (article === (article = articleAddress())) scan()
    else land(Date.now() - scrolledMs < SCROLL_MS)
  }, SETTLE_MS)
  new MutationObserver(look).observe(document, {
    attributeFilter: ['href'],
    childList: true,
    subtree: true,
  })
  try {
    ;(window as unknown as BrowserWindow).navigation.addEventListener('currententrychange', look)
  } catch {
    // No Navigation API: the name is missing, or refers to a menu or a frame from another host.
  }
  addEventListener('popstate', look)
  const noteScroll = (): void => {
    scrolledMs = Date.now()
  }
  // Scroll events of an element do not bubble.
  addEventListener('scroll', noteScroll, true)
  addEventListener('pageshow', (event) => event.persisted && land())
}

/**
 * The URL without tracking parameters, scroll positions and a trailing slash, which pages change by
 * themselves. `#/path` and `#!path` are pages.
 */
export const articleAddress = (): string =>
  location.href
    .replace(/#(?![/!]).*|((utm|mc)_\w+|\w*clk?id)=[^&#]*&?/g, '')
    .replace(/[?&/]+(?=\?|$)/g, '')
