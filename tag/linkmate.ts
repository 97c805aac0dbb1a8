/** Smart links for raw ones (interface 4.5), for members of the partner program. */
import type { PageSession, Parts } from './page-session.ts'
import { REPEATS } from './request-queue.ts'

interface LinkmateAnswer {
  data: { smart_links: { auction_id: string; url: string }[] }[]
}

/** Fewer than the service takes: the top of the page gets its links while the rest is asked for. */
const LINKS_PER_CALL = 100
/** The service's limit of an article's name. */
const NAME_MAX = 255

/** `urls` are distinct and in the order of the page; `done` gets each that has a smart link. */
export const askLinkmate = (
  urls: string[],
  { _sourceUrl }: PageSession,
  { _service, _queue, _settings }: Parts,
  done: (url: string, id: string) => void,
): void => {
  for (let first = 0; first < urls.length; first += LINKS_PER_CALL) {
    _queue._add({
      _url: `${_service._base}/api/v1/publishers/${_service._publisherId}/linkmate/smart_links/`,
      _body: JSON.stringify({
        article: {
          name: (document.title || location.host).slice(0, NAME_MAX),
          url: _sourceUrl,
        },
        links: urls.slice(first, first + LINKS_PER_CALL).map((raw_url) => ({
          raw_url,
          exclusive_match_requested: !!_settings.exclusiveLinks || /#locklink$/i.test(raw_url),
        })),
        unwrap_links: _settings.unwrap !== false,
      }),
      _done(answer) {
        for (const { smart_links } of (answer as LinkmateAnswer).data) {
          for (const { auction_id, url } of smart_links) done(url, auction_id)
        }
      },
      // The same links again give the same smart links.
      _again: REPEATS,
    })
  }
}
