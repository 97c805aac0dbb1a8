/** What a feed reader yields, whichever format it reads. */
import type { BadCsvRow } from '../../platform/text/csv-reader.ts'
import { withoutEmptyWord } from './empty-words.ts'
import {
  type FeedFields,
  type FieldName,
  type FoundField,
  NO_FIELDS,
  withUnit,
} from './feed-columns.ts'

/** Why a row could not be read at all; what it says is judged later, see check-offer.ts. */
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
  /** The row's id, where the fault cannot have touched it; null when that is not certain. */
  readonly id: string | null
}

/** Reads one format from decoded text as it arrives. */
export interface FeedParser {
  /** The rows that `text` completes; with `isLast`, what is left at the end of the feed. */
  push(text: string, isLast: boolean): FeedEntry[]
  /** True once the feed is known to have been cut off at its end. */
  readonly isCut: boolean
}

/** Gathers a row's fields by name, where two names may mean the same field. */
export class FieldGatherer {
  readonly #fields: Record<FieldName, string> = { ...NO_FIELDS }
  readonly #ranks: Partial<Record<FieldName, number>> = {}

  /** Keeps the value unless a surer name (a lower rank) has given one; true when it is an id. */
  set({ field, rank, unit, also }: FoundField, value: string): boolean {
    const isOtherId = also !== undefined && this.set(also, value)
    const isEmpty = withoutEmptyWord(value).trim() === ''
    // A price of `N/A` is shown as what it is, but any other price is surer.
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
