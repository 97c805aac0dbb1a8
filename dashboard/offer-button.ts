/** HTML of a button with the offers of several merchants, to paste into an article. */
import { html } from '../src/platform/text/html.ts'
import { cents } from './format.ts'
import type { Offer } from './publisher-api.ts'

/** Marks paid links for search engines, and has one class for the publisher's own style. */
export function offerButton(offers: readonly Offer[]): string {
  const lines = offers.map(
    ({ clickmate_link: url, price, merchant_name: merchant }) =>
      html`
  <a href="${url}" rel="sponsored nofollow">${cents(price)} at ${merchant}</a>`,
  )
  return html`<div class="souk-offers">${lines}
</div>`.html
}
