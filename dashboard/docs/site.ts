/** Assembles every page of the documentation site. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OpenApi, type Operation, operationsOf } from './api-description.ts'
import { renderGuideBlock } from './guide-block.ts'
import { inlineRefs } from './inline-refs.ts'
import { renderMarkdown } from './markdown.ts'
import type { Page, PageGroup } from './page.ts'
import { errorsPage } from './render-errors.ts'
import { referencePages } from './render-reference.ts'
import { webhooksPage } from './render-webhooks.ts'
import { resolveLink, SOURCE_PAGES, type SourcePage } from './site-sources.ts'
import { startPage } from './start-page.ts'

const ROOT = join(import.meta.dirname, '../..')

export function readApi(): OpenApi {
  return inlineRefs(JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')))
}

/** The pages by group, in the order of the menu. */
export function sitePages(): PageGroup[] {
  const api = readApi()
  const reference = referencePages(api)
  const operations = operationsOf(api)
  const documents = (group: SourcePage['group']) =>
    SOURCE_PAGES.filter((one) => one.group === group).map((one) => documentPage(one, operations))
  return [
    { title: 'Documentation', pages: [startPage(reference)] },
    { title: 'Guides', pages: documents('Guides') },
    { title: 'Tags', pages: documents('Tags') },
    { title: 'API', pages: [...reference, webhooksPage(), errorsPage()] },
    { title: 'Rules', pages: documents('Rules') },
    { title: 'For operators', pages: documents('Operators') },
    { title: 'More', pages: documents('More') },
  ]
}

function documentPage(source: SourcePage, operations: readonly Operation[]): Page {
  const text = withServiceUrls(readFileSync(join(ROOT, source.file), 'utf8'), source)
  const { title, body, headings, sections } = renderMarkdown(text, {
    resolve: (href) => resolveLink(href, source.file),
    renderBlock: (language, code) => renderGuideBlock(operations, language, code),
  })
  return {
    path: source.path,
    title: source.title ?? title,
    body: { html: `<div class="prose">${body.html}</div>` },
    headings,
    sections,
  }
}

/** The README of the tags names hosts of an example, which the server replaces with its own. */
function withServiceUrls(text: string, { group }: SourcePage): string {
  if (group !== 'Tags') return text
  return text
    .replaceAll('https://souk.example', '{base_url}')
    .replaceAll('https://auction.example', '{auction_url}')
    .replaceAll('https://link.example', '{link_url}')
}
