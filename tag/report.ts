/** Describes what the tag does with each link of a page, for the overlay and `souk check-page`. */
import type { LinkReport, LinkStatus, PageReport } from '../src/check-page/page-report.ts'
import type { Consent } from './consent.ts'
import { DO_NOT_LINK, IGNORED, LOCAL, OTHER, OURS, RAW, WRAPPED } from './find-links.ts'
import type { AuctionResult, Link } from './link.ts'
import { findOtherTags } from './other-tags.ts'
import type { Parts } from './page-session.ts'
import type { PageSettings } from './settings.ts'

/** Long enough to recognise a link. */
const TEXT_MAX = 80

/** Null until the tag works: it waits for the service or for consent, or has given up. */
export const reportPage = (): PageReport | null => {
  const { souk: parts } = navigator
  if (!parts?._links) return null
  const { _settings, _service, _consent, _links } = parts
  const { consent, consent_source } = _consent()
  return {
    publisher_id: _service.publisher_id,
    is_member: _service.linkmate_enabled,
    is_audit: !!_settings.donotlink,
    consent,
    consent_source: consent_source ?? null,
    blocked: blockers(_settings, _consent()),
    other_tags: findOtherTags(),
    // In the order of the page; removed links are not counted.
    links: Array.from(document.links).flatMap((anchor) => {
      const link = _links.get(anchor)
      return link ? [reportLink(link, parts)] : []
    }),
  }
}

const blockers = ({ donotlink }: PageSettings, { consent, consent_source }: Consent): string[] => [
  ...(donotlink ? ['Audit mode: the page sets souk.donotlink, nothing is changed.'] : []),
  ...(consent === 'contextual'
    ? [
        `Consent is not given (${consent_source}): auctions are contextual, ` +
          'third-party trackers are not fired.',
      ]
    : []),
]

const reportLink = (link: Link, parts: Parts): LinkReport => {
  const { _anchor, _result: result = null } = link
  const [status, why] = result ? outcome(link, result) : explain(link, parts)
  return {
    text: (_anchor.textContent ?? '').replace(/\s+/g, ' ').trim().slice(0, TEXT_MAX),
    url: link._href,
    status,
    why,
    is_raw: !!link._raw,
    auction_id: link._id ?? null,
    redirect_url: result?.redirect_url ?? null,
    destination: result ? new URL(result.redirect_url).searchParams.get('url') : null,
    has_winner: result?.has_winner ?? null,
    product: result?.product?.name ?? null,
    merchant: result?.product?.merchant?.name ?? null,
    price: result?.product?.price ?? null,
  }
}

const outcome = (
  { _anchor, _outcome = '' }: Link,
  { has_winner, product }: AuctionResult,
): [LinkStatus, string] => {
  if (!_anchor.href.startsWith(_outcome)) return ['left', 'The page has restored its own URL.']
  if (has_winner === false) return ['auctioned', 'Nobody bid: it leads to its original page.']
  return ['auctioned', `It leads to ${product?.merchant?.name ?? 'the winner of its auction'}.`]
}

const REASONS: Record<string, string> = {
  [OTHER]: 'Not a web URL.',
  [DO_NOT_LINK]: 'The author wrote #donotlink.',
  [IGNORED]: 'Inside an element marked data-souk-ignore, or in a text that a reader edits.',
  [LOCAL]: 'A page of the publisher.',
  [OURS]:
    'A URL of this service that is not a smart link; wrappers run their auction when clicked.',
  [WRAPPED]: 'Contains another URL: another network’s link, or a wrapper around ours.',
}

/** Why a link has no outcome. */
const explain = (link: Link, { _settings, _service }: Parts): [LinkStatus, string] => {
  const reason = REASONS[link._verdict]
  if (reason) return ['left', reason]
  if (link._anchor.matches('[rel~=noauction]')) return ['left', 'Marked rel="noauction".']
  if (_settings.donotlink) {
    const would =
      link._verdict === RAW && !_service.linkmate_enabled ? 'stay as it is' : 'be auctioned'
    return ['left', `Audit mode (donotlink): nothing is changed; it would ${would}.`]
  }
  if (link._id) {
    return [
      'waiting',
      'A smart link; its auction has not answered yet, or the link does not exist.',
    ]
  }
  if (!_service.linkmate_enabled) {
    return ['left', 'A raw link, and the account is not in the partner program.']
  }
  if (!link._raw) {
    return ['left', 'A raw link that does not match the page’s selector, or is too long.']
  }
  // The same while LinkMate has not answered: the link still opens its original page.
  return ['left', 'A raw link; no merchant of the network is known to sell at this URL.']
}
