/** Fires a tracker or a pixel as a hidden image. */

/** Inserts a hidden image. Its style is set through the object model, which any CSP allows. */
export const insertImage = (url: string): HTMLImageElement => {
  const image = new Image()
  // Not the `hidden` attribute: a page's own `img { display: block }` would override it.
  image.style.cssText = 'display:none!important'
  image.src = url.replace(/{RAND}/g, randomNumber)
  document.body.appendChild(image)
  return image
}

/** A whole number below 2^31, which every consumer represents exactly. */
export const randomNumber = (): string => `${(Math.random() * 1e9) | 0}`
