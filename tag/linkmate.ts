/** Requests smart links for raw links, for members of the partner program (LinkMate). */
import type { Link } from './link.ts'
import type { PageSession, Parts } from './page-session.ts'
import { REPEATS } from './request-queue.ts'
import { toJson } from './to-json.ts'

interface LinkmateAnswer {
  data: { smart_links: { auction_id: string; url: string; is_monetizable?: boolean }[] }[]
}

export interface Linkmate {
  /** Whether the publisher and the page allow a raw link to become a smart link. */
  _take(link: Link): void
  /**
   * Requests each URL once per visit, in the order of the page. The service accepts 500 per call;
   * one scan of the page finds fewer.
   */
  _ask(): void
}

/** The service's limit for an article's name. */
const NAME_MAX = 255
/**
 * At most 2,048 characters plain and 6,000 percent-encoded (docs/spec/limits.md): a longer URL
 * would make the service reject the whole call. The page's own URL is cut at its end.
 */
const URL_MAX = 2000

/** `adopt` gets each link that now has a smart link; `done` is called after each response. */
export const makeLinkmate = (
  { _service, _queue, _settings, _links }: Parts,
  session: PageSession,
  adopt: (link: Link, id: string) => void,
  done: () => void,
): Linkmate => {
  /** The smart link of each URL that can earn. */
  const ids: Record<string, string> = {}
  let fresh: object[] = []

  return {
    _take(link) {
      const { _href } = link
      const { selector } = _settings
      if (!_service.linkmate_enabled || link._isLeft || _href.length > URL_MAX) return
      try {
        if (selector && !link._anchor.matches(selector)) return
      } catch {
        return // An invalid selector selects nothing.
      }
      link._raw = true
      const id = ids[_href]
      if (id) adopt(link, id)
      else {
        session._asked[_href] ||= fresh.push({
          raw_url: _href,
          exclusive_match_requested: !!_settings.exclusiveLinks || /#locklink$/i.test(_href),
        })
      }
    },
    _ask() {
      const { _asked } = session
      if (!fresh[0]) return
      _queue._add({
        _url: `${_service._base}/api/v1/publishers/${_service.publisher_id}/linkmate/smart_links/`,
        _body: toJson({
          article: {
            // A form or an image named `title` replaces `document.title`, and has no `slice`.
            name: document.title.slice?.(0, NAME_MAX) || null,
            url: session._sourceUrl.slice(0, URL_MAX),
          },
          links: fresh,
          unwrap_links: _settings.unwrap !== false,
        }),
        _done(answer) {
          const [{ smart_links }] = (answer as LinkmateAnswer).data as [LinkmateAnswer['data'][0]]
          for (const { auction_id, url, is_monetizable } of smart_links) {
            // A link that cannot earn stays direct: a redirect would only slow its readers down.
            if (is_monetizable !== false) ids[url] = auction_id
          }
          if (session._asked !== _asked) return
          for (const link of _links.values()) {
            const id = link._raw && !link._id && ids[link._href] && ids[link._anchor.href]
            if (id) adopt(link, id)
          }
          done()
        },
        // The same links give the same smart links again.
        _again: REPEATS,
      })
      fresh = []
    },
  }
}
