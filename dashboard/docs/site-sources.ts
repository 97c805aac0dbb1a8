/** The Markdown documents of the repository that the site shows, and the page of each. */
export interface SourcePage {
  /** From the root of the repository. */
  readonly file: string
  readonly path: string
  readonly group: 'Guides' | 'Tags' | 'Rules' | 'Operators' | 'More'
  /** The title in the menu; without it, that of the document. */
  readonly title?: string
}

const guide = (name: string): SourcePage => ({
  file: `dashboard/docs/guides/${name}.md`,
  path: `guides/${name}/`,
  group: 'Guides',
})

const rules = (name: string, title?: string): SourcePage => ({
  file: `docs/spec/${name}.md`,
  path: `rules/${name}/`,
  group: 'Rules',
  ...(title === undefined ? {} : { title }),
})

export const SOURCE_PAGES: readonly SourcePage[] = [
  guide('embed-the-tag'),
  guide('create-links'),
  guide('match-products'),
  guide('read-statistics'),
  guide('send-orders'),
  { file: 'tag/README.md', path: 'tag/', group: 'Tags' },
  rules('worked-example', 'Worked example'),
  rules('links-and-tags'),
  rules('auction'),
  rules('clicks'),
  rules('orders-and-money'),
  rules('budgets'),
  rules('prediction', 'Prediction'),
  rules('feeds'),
  rules('reports'),
  rules('networks'),
  rules('management', 'People and roles'),
  rules('interface'),
  rules('limits'),
  { file: 'docs/operations.md', path: 'operations/', group: 'Operators' },
  { file: 'docs/performance.md', path: 'performance/', group: 'Operators' },
  { file: 'SECURITY.md', path: 'security/', group: 'Operators' },
  { file: 'CHANGELOG.md', path: 'changelog/', group: 'More' },
]

/**
 * The page that a link of a document leads to. Other files of the repository are not on the site:
 * null.
 */
export function resolveLink(href: string, from: string): string | null {
  if (/^(?:https?:|#|\{|\/(?:docs|dashboard)\/(?!.*\.md\b))/.test(href)) return href
  const { pathname, hash } = new URL(href, `file:///${from}`)
  const page = SOURCE_PAGES.find(({ file }) => `/${file}` === pathname)
  return page === undefined ? null : `/docs/${page.path}${hash}`
}
