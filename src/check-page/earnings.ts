/** The publisher's earnings of a click, from the sealed result in its redirect URL. */
import { readRedirectQuery } from '../auction/redirect-query.ts'
import type { Sealer } from '../auction/seal.ts'
import { formatExact, publisherPart } from '../platform/money/money.ts'

/**
 * Opens the seal of a redirect URL: the publisher's share of the price of one click. For a campaign
 * that pays per order the seal holds its terms instead, which are no price of a click.
 *
 * With `pubId`, only results of that publisher: a page may show any redirect URL, and prices are
 * their publisher's secret.
 */
export function earningsUnder(
  sealer: Sealer,
  { brand, pubId }: { readonly brand: string; readonly pubId?: number },
): (redirectUrl: string) => string | null {
  return (redirectUrl) => {
    const url = URL.parse(redirectUrl)
    if (url === null) return null
    const { id, binding } = readRedirectQuery(url.search, [brand])
    const result = sealer.open(id, binding)
    if (result?.terms.model !== 'cpc') return null
    if (pubId !== undefined && result.pubId !== pubId) return null
    return formatExact(publisherPart(result.terms.pricePerClickMicros, result.sharePpm))
  }
}
