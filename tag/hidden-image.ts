/** The one way a tracker or a pixel is fired (interface 6, rule 8). */

/** Inserts a hidden image. Its style is set through the object model, which any CSP allows. */
export const insertImage = (url: string): HTMLImageElement => {
  const image = new Image()
  // Not `hidden`: a page's own `img { display: block }` would bring it into the layout.
  image.style.cssText = 'display:none!important'
  image.src = url.replace(/{RAND}/g, randomNumber)
  document.body.appendChild(image)
  return image
}

/** Whole and below 2^31, so that every reader of it holds it exactly. */
export const randomNumber = (): string => `${(Math.random() * 1e9) | 0}`
