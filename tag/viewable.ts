/**
 * Has a reader seen a link? Third-party trackers want its first sight (interface 6, rule 7); our
 * own viewable impression wants half of it in view for a second (decisions 4.7).
 */

const SHARE_IN_VIEW = 0.5
const IN_VIEW_MS = 1000

export interface ViewWatch {
  _observe(element: Element): void
  /** What an element showed until now is not seen any more: it shows another link. */
  _forget(element: Element): void
  _stop(): void
}

export const watchViews = (on: {
  _seen(element: Element): void
  _viewed(element: Element): void
}): ViewWatch => {
  const timers = new Map<Element, ReturnType<typeof setTimeout>>()
  const arm = (element: Element): void => {
    const count = (): void => {
      // A tab in the background shows nothing: the second starts again.
      if (document.hidden) arm(element)
      else {
        forget(element)
        on._viewed(element)
      }
    }
    timers.set(element, setTimeout(count, IN_VIEW_MS))
  }
  const forget = (element: Element): void => {
    observer.unobserve(element)
    clearTimeout(timers.get(element))
  }
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, intersectionRatio } of entries) {
        clearTimeout(timers.get(target))
        if (isIntersecting) on._seen(target)
        if (intersectionRatio >= SHARE_IN_VIEW) arm(target)
      }
    },
    { threshold: [0, SHARE_IN_VIEW] },
  )
  return {
    _observe: (element) => observer.observe(element),
    _forget: forget,
    _stop() {
      timers.forEach(clearTimeout)
      observer.disconnect()
    },
  }
}
