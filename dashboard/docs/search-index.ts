/** Builds the search index of all pages. */
import MiniSearch from 'minisearch'
import { type Page, urlOf } from './page.ts'
import { SEARCH_OPTIONS, type SearchEntry } from './reader/search-options.ts'

/** Shown under a result. */
const EXCERPT_LENGTH = 160

/** The index as JSON. */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch<SearchEntry>(SEARCH_OPTIONS)
  for (const page of pages) {
    for (const { id, heading, text } of page.sections) {
      const url = id === '' ? urlOf(page) : `${urlOf(page)}#${id}`
      const excerpt = text.trim().slice(0, EXCERPT_LENGTH)
      index.add({ id: url, page: page.title, heading, text, excerpt })
    }
  }
  return JSON.stringify(index)
}
