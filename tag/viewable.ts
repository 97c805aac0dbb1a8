/**
 * Has a reader seen a link? Third-party trackers want its first sight (interface 6, rule 7); our
 * own viewable impression wants half of it in view for a second (decisions 4.7).
 */

const SHARE_IN_VIEW = 0.5
const IN_VIEW_MS = 1000

/**
 * Calls `seen` whenever the anchor comes into view, and `viewed` once, when half of it has been
 * there for a second. The function returned ends that: the anchor shows another link.
 */
export const watchView = (
  anchor: Element,
  on: { _seen(): void; _viewed(): void },
): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = (): void => {
    timer = setTimeout(() => {
      // A tab in the background shows nothing: the second starts again.
      if (document.hidden) return arm()
      stop()
      on._viewed()
    }, IN_VIEW_MS)
  }
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, intersectionRatio } of entries) {
        clearTimeout(timer)
        if (isIntersecting) on._seen()
        if (intersectionRatio >= SHARE_IN_VIEW) arm()
      }
    },
    { threshold: [0, SHARE_IN_VIEW] },
  )
  const stop = (): void => {
    observer.disconnect()
    clearTimeout(timer)
  }
  observer.observe(placeOf(anchor))
  return stop
}

/** An area is seen where its picture is, a link of `display: contents` where its content is. */
const placeOf = (anchor: Element): Element => {
  const map = anchor.closest('map')
  const place = map
    ? document.querySelector(`[usemap=${JSON.stringify(`#${map.name}`)}]`)
    : getComputedStyle(anchor).display === 'contents' &&
      (anchor.firstElementChild || anchor.parentElement)
  return place || anchor
}
