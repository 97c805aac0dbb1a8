/**
 * One reader on one article: its UUID and the events that carry it (interface 4.7 and 6).
 */
import type { Consent } from './consent.ts'
import type { Link } from './link.ts'
import { REPEATS, type RequestQueue } from './request-queue.ts'
import type { PageSettings, Service } from './settings.ts'
import { toJson } from './to-json.ts'

export interface PageSession {
  _uuid: string
  _sourceUrl: string
  /**
   * Auctions and addresses that were asked about since the reader came to the article. Another list
   * for each visit: answers of an earlier one are for nobody, and what had none is asked again.
   */
  _asked: Record<string, number>
  /** One event per entry, at most 100 a call; empties the list. */
  _send(type: string, events: object[], again?: number): void
}

/** Interface section 8. */
const EVENTS_PER_CALL = 100

/** What every part of the tag works with. */
export interface Parts {
  _settings: PageSettings
  _service: Service
  _queue: RequestQueue
  /** The reader's choice as it is now. */
  _consent: () => Consent
  /** The links of the present page session. */
  _links: Map<Element, Link>
}

/** Begins a page session: a new UUID, then its one page impression (rules 1 and 2). */
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
  // Counted once per session by the service, so it may be repeated after any failure.
  _send('page_impression', [{}], REPEATS)
  return { _uuid, _sourceUrl, _asked: {}, _send }
}

/**
 * A version 4 UUID: how the address ends that a browser makes for a file. `crypto.randomUUID` is on
 * https pages only. `webkitURL` is the other name of `URL` in every browser (URL standard, 6.1):
 * pages call variables of their own `URL`, and shapes in their drawings `Blob`.
 */
const makeUuid = (): string => webkitURL.createObjectURL(new File([], '')).slice(-36)
