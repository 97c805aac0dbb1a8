/**
 * When does a reader land on a page? (interface 6, rule 1)
 *
 * At the first load, at the activation of a prerendered page, when a page comes back from the
 * back/forward cache, and when a single-page application shows another article.
 */
import { gather } from './gather.ts'

interface BrowserWindow {
  navigation: EventTarget
}

/** Resolves at the page's next event of this type. */
export const heard = (type: string): Promise<unknown> =>
  new Promise((resolve) => document.addEventListener(type, resolve))

/**
 * Changes of a page gather this long before it is looked at again: frameworks change hundreds of
 * nodes at a time, and single-page applications the address first and the article soon after.
 */
const SETTLE_MS = 200

/** A page that shows one article below the other changes its address so soon after a scroll. */
const SCROLL_MS = 1500

/**
 * Calls `land` for every landing after the first, and `scan` when the page has changed otherwise.
 * `land` learns whether the reader has only scrolled from one article to another.
 * The page's own `history` functions are never replaced: where there is no Navigation API, the
 * change of the article's nodes tells of the change of its address.
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
    // No Navigation API: no such name, or that of a page's menus or of a frame on another host.
  }
  addEventListener('popstate', look)
  const noteScroll = (): void => {
    scrolledMs = Date.now()
  }
  // Scrolls of an element do not bubble.
  addEventListener('scroll', noteScroll, true)
  addEventListener('pageshow', (event) => event.persisted && land())
}

/**
 * The address without what only scrolls or tracks, and without a last slash: pages tidy such things
 * up. `#/path` and `#!path` are pages.
 */
export const articleAddress = (): string =>
  location.href
    .replace(/#(?![/!]).*|((utm|mc)_\w+|\w*clk?id)=[^&#]*&?/g, '')
    .replace(/[?&/]+(?=\?|$)/g, '')
