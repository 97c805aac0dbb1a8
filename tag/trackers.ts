/** Trackers: hidden images (interface 6, rules 7 to 9). */

/** Inserts a hidden image. Its style is set through the object model, which any CSP allows. */
export const insertImage = (url: string): HTMLImageElement => {
  const image = new Image()
  // Not `hidden`: a page's own `img { display: block }` would bring it into the layout.
  image.style.cssText = 'display:none!important'
  image.src = url.replace(/{RAND}/g, () => `${randomNumber()}`)
  document.body.append(image)
  return image
}

/** Whole and below 2^31, so that every reader of it holds it exactly. */
export const randomNumber = (): number => Math.floor(Math.random() * 2 ** 31)

/** Fires each tracker once per page and event, however many links name it. */
export const makeTrackers = (): ((event: string, urls: unknown) => void) => {
  const fired = new Set<string>()
  return (event, urls) => {
    for (const url of (urls || []) as string[]) {
      const key = event + url
      if (/^https?:/.test(url) && !fired.has(key)) {
        fired.add(key)
        insertImage(url)
      }
    }
  }
}
