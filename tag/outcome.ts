/** Applies an auction's outcome to an anchor, and reverts it. */
import type { Anchor, Attributes, AuctionResult, Link, ReplacedText } from './link.ts'
import type { PageSettings } from './settings.ts'
import { toJson } from './to-json.ts'

/** The attributes that an outcome changes. */
const CHANGED = ['href', 'rel', 'data-souk-auction']
const read = (anchor: Anchor): Attributes => {
  const values: Attributes = []
  for (const name of CHANGED) values.push(anchor.getAttribute(name))
  return values
}

/** Points the anchor to the outcome's URL and publishes the outcome to the page. */
export const applyOutcome = (link: Link, result: AuctionResult, settings: PageSettings): void => {
  const { _anchor } = link
  link._result = result
  const before = read(_anchor)
  // Outside the network our redirect forwards at once only if the browser sends a referrer
  // (docs/spec/links-and-tags.md#unattributed-wrapper-redirects). Browsers send the origin by
  // default.
  if (link._raw && result.has_winner === false) {
    // WebKit keeps honouring a link's first `noreferrer`, so the link stays as it is.
    if (navigator.vendor[0] === 'A' && _anchor.rel.includes('noreferrer')) return
    _anchor.relList.replace('noreferrer', 'noopener')
  }
  _anchor.href = result.redirect_url + labels(link, settings)
  link._outcome = result.redirect_url.split('&')[0]
  if (settings.rel !== false) _anchor.relList.add('sponsored', 'nofollow')
  _anchor.setAttribute('data-souk-auction', toJson(result))
  link._changes = [before, read(_anchor), fillTexts(_anchor, result)]
  _anchor.dispatchEvent(new CustomEvent('souk:auction', { bubbles: true, detail: result }))
}

/** Restores an anchor, except for later changes of the page. */
export const takeBack = ({ _anchor, _changes, _unwatch }: Link): void => {
  _unwatch?.()
  if (!_changes) return
  const [before, after, texts] = _changes
  for (const name of CHANGED) {
    const value = before.shift()
    if (_anchor.getAttribute(name) !== after.shift()) continue
    if (value == null) _anchor.removeAttribute(name)
    else _anchor.setAttribute(name, value)
  }
  for (const [element, nodes, text] of texts) {
    if (element.textContent === text) element.replaceChildren(...nodes)
  }
}

/**
 * Copies `u1` and `utm_source` to the click's report; they do not affect the auction. A raw link's
 * own parameters of these names belong to its shop.
 */
const labels = ({ _raw, _href }: Link, { u1 }: PageSettings): string =>
  // The service uses the first of two values, so a link's own label wins.
  [
    ...((!_raw && _href.match(/[?&](u1|utm_source)=[^?&#]*/g)) || []),
    u1 ? `&u1=${encodeURIComponent(u1)}` : '',
  ]
    .join('')
    .replace(/\?/g, '&')

/** Marks an unknown value; no attribute can contain this character. */
const UNKNOWN = '\0'

/**
 * Fills `data-souk-text="{price} at {merchant}"` on the anchor or inside it. Without a winner, or
 * when a value is unknown, the original text stays. Inserted as text, never as HTML: names come
 * from shops.
 */
const fillTexts = (anchor: Element, { product, has_winner }: AuctionResult): ReplacedText[] => {
  const replaced: ReplacedText[] = []
  if (!product || has_winner === false) return replaced
  const values: Record<string, string | undefined> = {
    name: product.name,
    price: product.price && `$${product.price}`,
    merchant: product.merchant?.name,
    stock: product.is_in_stock ? 'in stock' : product.is_in_stock === false ? 'out of stock' : '',
  }
  for (const element of [anchor, ...anchor.querySelectorAll('[data-souk-text]')]) {
    const text = element
      .getAttribute('data-souk-text')
      ?.replace(/{(\w+)}/g, (_, name) => values[name] || UNKNOWN)
    if (text && !text.includes(UNKNOWN)) {
      replaced.push([element, [...element.childNodes], text])
      element.textContent = text
    }
  }
  return replaced
}
