/** Wire shapes of the events endpoint. */
import Type, { type Static } from 'typebox'
import { idText, orNull } from '../platform/http/field-types.ts'
import { UUID_PATTERN } from '../platform/http/pattern.ts'
import { CONSENT_DESCRIPTION, CONSENT_WORDS } from './consent.ts'

/** A page's events per call. */
export const EVENTS_PER_CALL_MAX = 100
/** 100 events with the longest addresses have 32 KiB (docs/spec/limits.md#bodies). */
export const EVENTS_BODY_BYTES_MAX = 262_144
/** Longer than any URL a person types, and long enough for pages. */
export const PAGE_URL_LENGTH_MAX = 8192

const EventUser = Type.Object({
  page_session_uuid: Type.String({ pattern: UUID_PATTERN }),
  source_url: Type.String({ minLength: 1, maxLength: PAGE_URL_LENGTH_MAX }),
  previous_url: Type.Optional(orNull(Type.String({ maxLength: PAGE_URL_LENGTH_MAX }))),
  consent: Type.Optional(
    Type.Union(
      CONSENT_WORDS.map((word) => Type.Literal(word)),
      { description: CONSENT_DESCRIPTION },
    ),
  ),
  consent_source: Type.Optional(Type.String({ maxLength: 16, description: 'Who said so' })),
})

function batchOf<T extends Parameters<typeof Type.Array>[0]>(event: T) {
  return Type.Object({
    organization_type: Type.Literal('publisher'),
    organization_id: Type.Integer(),
    user: EventUser,
    events: Type.Array(event, { minItems: 1, maxItems: EVENTS_PER_CALL_MAX }),
  })
}

/** A page impression's event is an empty object. Extra fields such as is_amp are ignored. */
export const PageImpressions = batchOf(Type.Object({}))
export const LinkImpressions = batchOf(Type.Object({ auction_id: idText() }))
export type PageImpressions = Static<typeof PageImpressions>
export type LinkImpressions = Static<typeof LinkImpressions>
