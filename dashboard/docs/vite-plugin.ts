/** Writes the documentation site: each page in the shell that Vite builds from docs.html. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'vite'
import { html } from '../../src/platform/text/html.ts'
import type { Page } from './page.ts'
import { renderShell } from './page-shell.ts'
import { searchIndex } from './search-index.ts'
import { sitePages } from './site.ts'

export const docsSite: Plugin = {
  name: 'docs-site',
  writeBundle({ dir = '' }) {
    const shellFile = join(dir, 'docs.html')
    const shell = readFileSync(shellFile, 'utf8')
    rmSync(shellFile)
    for (const [name, text] of siteFiles(shell)) {
      const file = join(dir, 'docs', name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  },
}

/** The files of the site by their names. */
export function siteFiles(shell: string): Map<string, string> {
  const groups = sitePages()
  const pages = groups.flatMap((group) => group.pages)
  const index = searchIndex(pages)
  const version = createHash('sha256').update(index).digest('hex').slice(0, VERSION_LENGTH)
  const site = { groups, searchUrl: `/docs/search.json?v=${version}` }
  return new Map([
    ['search.json', index],
    ...pages.map((page) => [fileOf(page), fill(shell, page, renderShell(site, page))] as const),
  ])
}

const VERSION_LENGTH = 12

const fileOf = ({ path }: Page): string =>
  `${path === '' ? 'start/' : path}`.replace(/\/$/, '.html')

function fill(shell: string, { title }: Page, body: string): string {
  const [icon = ''] = /(?<=rel="icon" href=")[^"]+/.exec(shell) ?? []
  // Functions, because a text may contain `$&`.
  return shell
    .replace('<title>Souk</title>', () => html`<title>${title} · Souk</title>`.html)
    .replace('<!-- page -->', () => body.replace('./favicon.svg', () => icon))
}
