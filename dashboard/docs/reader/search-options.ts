/** How the search index is built, and later read: both sides need the same options. */
import type { Options } from 'minisearch'

export interface SearchEntry {
  /** The URL of the section. */
  readonly id: string
  readonly page: string
  readonly heading: string
  readonly text: string
  readonly excerpt: string
}

export const SEARCH_OPTIONS: Options<SearchEntry> = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['page', 'heading', 'excerpt'],
  searchOptions: {
    boost: { heading: 4, page: 2 },
    prefix: true,
    // One typing error in a word of five letters or more.
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: 'AND',
  },
}
