/** The result of a feed reader, in any format. */
import type { BadCsvRow } from '../../platform/text/csv-reader.ts'
import { withoutEmptyWord } from './empty-words.ts'
import {
  type FeedFields,
  type FieldName,
  type FoundField,
  NO_FIELDS,
  withUnit,
} from './feed-columns.ts'

/** Why a row is unreadable; check-offer.ts judges its content later. */
export type ReadFault = BadCsvRow['reason']

export type FeedEntry =
  | { readonly kind: 'row'; readonly line: number; readonly fields: FeedFields }
  | BadRow

export interface BadRow {
  readonly kind: 'bad'
  /** The line of the feed's text in which the row begins, the first being 1. */
  readonly line: number
  readonly reason: ReadFault
  readonly detail: string
  readonly text: string
  /** The id of an unreadable row if certain; else null. */
  readonly id: string | null
}

/** Reads one format from decoded text as it arrives. */
export interface FeedParser {
  /** The rows that `text` completes; with `isLast`, the rest of the feed. */
  push(text: string, isLast: boolean): FeedEntry[]
  /** True once the feed is known to have been cut off at its end. */
  readonly isCut: boolean
}

/** Collects a row's fields by name; two names may have the same field. */
export class FieldGatherer {
  readonly #fields: Record<FieldName, string> = { ...NO_FIELDS }
  readonly #ranks: Partial<Record<FieldName, number>> = {}

  /** Stores the value unless a better name (a lower rank) has given one; true when it is an id. */
  set({ field, rank, unit, also }: FoundField, value: string): boolean {
    const isOtherId = also !== undefined && this.set(also, value)
    const isEmpty = withoutEmptyWord(value).trim() === ''
    // Any other price beats `N/A`, which is reported as it is.
    if (isEmpty && (field !== 'price' || value.trim() === '')) return isOtherId
    const ownRank = isEmpty ? Number.MAX_SAFE_INTEGER : rank
    if (ownRank >= (this.#ranks[field] ?? Number.POSITIVE_INFINITY)) return isOtherId
    this.#fields[field] = withUnit(value, unit)
    this.#ranks[field] = ownRank
    return field === 'id' || isOtherId
  }

  finish(): FeedFields {
    return this.#fields
  }
}
