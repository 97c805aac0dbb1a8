/** One page of the documentation site. */
import type { Html } from '../../src/platform/text/html.ts'

export interface Heading {
  readonly id: string
  readonly text: string
  readonly depth: number
}

/** A part of a page that the search finds. */
export interface Section {
  readonly id: string // Empty: the beginning of the page.
  readonly heading: string
  readonly text: string
}

export interface Page {
  /** Below `/docs/`, with a slash at its end; empty for the start page. */
  readonly path: string
  readonly title: string
  /** One sentence under the title. */
  readonly lead?: string
  readonly body: Html
  readonly headings: readonly Heading[]
  readonly sections: readonly Section[]
}

export interface PageGroup {
  readonly title: string
  readonly pages: readonly Page[]
}

export const urlOf = ({ path }: Pick<Page, 'path'>): string => `/docs/${path}`
