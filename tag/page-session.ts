/** One reader's visit to one article: its UUID and the events that carry it. */
import type { Consent } from './consent.ts'
import type { Link } from './link.ts'
import { REPEATS, type RequestQueue } from './request-queue.ts'
import type { PageSettings, Service } from './settings.ts'
import { toJson } from './to-json.ts'

export interface PageSession {
  _uuid: string
  _sourceUrl: string
  /**
   * Auctions and URLs requested in this visit. Each visit has its own list: late responses of an
   * earlier visit are ignored, and unanswered requests are sent again.
   */
  _asked: Record<string, number>
  /** Sends one event per entry, at most 100 per call, and empties the list. */
  _send(type: string, events: object[], again?: number): void
}

/** The interface's limit of events per call. */
const EVENTS_PER_CALL = 100

/** What every part of the tag works with. */
export interface Parts {
  _settings: PageSettings
  _service: Service
  _queue: RequestQueue
  /** Returns the reader's current choice. */
  _consent: () => Consent
  /** The links of the current page session. */
  _links: Map<Element, Link>
}

/** Starts a page session: a new UUID and its page impression. */
export const beginSession = (
  { _service, _queue, _consent }: Parts,
  previous_url: string,
): PageSession => {
  const _uuid = makeUuid()
  const _sourceUrl = location.href
  const _send = (type: string, events: object[], again?: number): void => {
    while (events[0]) {
      _queue._add({
        _url: `${_service._base}/api/v1/events/impressions/${type}/`,
        _body: toJson({
          organization_id: _service.publisher_id,
          organization_type: 'publisher',
          user: {
            page_session_uuid: _uuid,
            source_url: _sourceUrl,
            previous_url,
            ..._consent(),
          },
          events: events.splice(0, EVENTS_PER_CALL),
        }),
        _again: again,
      })
    }
  }
  // The service counts it once per session, so it may be repeated after any failure.
  _send('page_impression', [{}], REPEATS)
  return { _uuid, _sourceUrl, _asked: {}, _send }
}

/**
 * A version 4 UUID, taken from the URL that a browser generates for a blob. `crypto.randomUUID`
 * exists only on https pages. `webkitURL` is an alias of `URL` in every browser (URL standard,
 * 6.1); pages define their own variables named `URL` and `Blob`.
 */
const makeUuid = (): string => webkitURL.createObjectURL(new File([], '')).slice(-36)
