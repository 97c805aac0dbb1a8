/**
 * Detects when a reader sees a link. Third-party trackers fire when it first appears; a viewable
 * impression needs half of the link in view for a second.
 */

import type { Link } from './link.ts'
import { toJson } from './to-json.ts'

/** Not 0, which is also reached where a link only touches the edge of the screen. */
const ANY_SHARE = 1e-6
const SHARE_IN_VIEW = 0.5
const IN_VIEW_MS = 1000

/** Calls `seen` whenever the link comes into view, and `viewed` after a second in view. */
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

/** Observes the image of an area, and the content of a link with `display: contents`. */
const placeOf = (anchor: Element): Element => {
  const map = anchor.closest('map')
  const place = map
    ? document.querySelector(`[usemap=${toJson(`#${map.name}`)}]`)
    : getComputedStyle(anchor).display === 'contents' &&
      (anchor.firstElementChild || anchor.parentElement)
  return place || anchor
}
