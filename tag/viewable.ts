/**
 * Has a reader seen a link? Third-party trackers want its first sight (interface 6, rule 7); our
 * own viewable impression wants half of it in view for a second (decisions 4.7).
 */

import type { Link } from './link.ts'
import { toJson } from './to-json.ts'

/** Not 0: that is reached where a link and the screen only touch, in view or not. */
const ANY_SHARE = 1e-6
const SHARE_IN_VIEW = 0.5
const IN_VIEW_MS = 1000

/** Calls `seen` whenever the link comes into view, and `viewed` once it was long enough there. */
export const watchView = (link: Link, seen: () => void, viewed: () => void): void => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = (): void => {
    timer = setTimeout(() => {
      // A tab in the background shows nothing: the second starts again.
      if (document.hidden) return arm()
      stop()
      link._isViewed = true
      viewed()
    }, IN_VIEW_MS)
  }
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { intersectionRatio } of entries) {
        clearTimeout(timer)
        if (intersectionRatio) seen()
        if (intersectionRatio >= SHARE_IN_VIEW) arm()
      }
    },
    { threshold: [ANY_SHARE, SHARE_IN_VIEW] },
  )
  const stop = (): void => {
    observer.disconnect()
    clearTimeout(timer)
  }
  observer.observe(placeOf(link._anchor))
  link._unwatch = stop
}

/** An area is seen where its picture is, a link of `display: contents` where its content is. */
const placeOf = (anchor: Element): Element => {
  const map = anchor.closest('map')
  const place = map
    ? document.querySelector(`[usemap=${toJson(`#${map.name}`)}]`)
    : getComputedStyle(anchor).display === 'contents' &&
      (anchor.firstElementChild || anchor.parentElement)
  return place || anchor
}
