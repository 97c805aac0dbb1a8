/** Smart links for raw ones (interface 4.5), for members of the partner program. */
import type { Link } from './link.ts'
import type { PageSession, Parts } from './page-session.ts'
import { REPEATS } from './request-queue.ts'
import { toJson } from './to-json.ts'

interface LinkmateAnswer {
  data: { smart_links: { auction_id: string; url: string; is_monetizable?: boolean }[] }[]
}

export interface Linkmate {
  /** A raw link of the page, if the publisher and the page want it to become a smart link. */
  _take(link: Link): void
  /**
   * Asks for what was taken, in the order it was taken, each address once a visit. The service
   * takes 500 at a time; a look at the page finds fewer.
   */
  _ask(): void
}

/** The service's limit of an article's name. */
const NAME_MAX = 255
/**
 * Not more than 2,048 as it is and 6,000 percent-encoded (decisions 4.1): one longer address would
 * make the service refuse the whole call. The page's own is cut: what makes it so long comes last.
 */
const URL_MAX = 2000

/** `adopt` gets each link that has a smart link now, `done` is called after each answer. */
export const makeLinkmate = (
  { _service, _queue, _settings, _links }: Parts,
  session: PageSession,
  adopt: (link: Link, id: string) => void,
  done: () => void,
): Linkmate => {
  /** The smart link of each address that can earn; others stay as they are. */
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
        return // No selector: it selects nothing.
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
            // A form or an image named `title` has that place, and no `slice`.
            name: document.title.slice?.(0, NAME_MAX) || null,
            url: session._sourceUrl.slice(0, URL_MAX),
          },
          links: fresh,
          unwrap_links: _settings.unwrap !== false,
        }),
        _done(answer) {
          const [{ smart_links }] = (answer as LinkmateAnswer).data as [LinkmateAnswer['data'][0]]
          for (const { auction_id, url, is_monetizable } of smart_links) {
            // A link that cannot earn would only lead its readers through us.
            if (is_monetizable !== false) ids[url] = auction_id
          }
          if (session._asked !== _asked) return
          for (const link of _links.values()) {
            const id = link._raw && !link._id && ids[link._href] && ids[link._anchor.href]
            if (id) adopt(link, id)
          }
          done()
        },
        // The same links again give the same smart links.
        _again: REPEATS,
      })
      fresh = []
    },
  }
}
