import assert from 'node:assert/strict'
import { test } from 'node:test'
import MiniSearch from 'minisearch'
import { ERRORS } from '../../src/platform/errors/api-errors.ts'
import { operationsOf } from './api-description.ts'
import { HeadingIds } from './heading-id.ts'
import { renderMarkdown } from './markdown.ts'
import { type Page, urlOf } from './page.ts'
import { renderShell } from './page-shell.ts'
import { SEARCH_OPTIONS, type SearchEntry } from './reader/search-options.ts'
import { searchIndex } from './search-index.ts'
import { readApi, sitePages } from './site.ts'

const groups = sitePages()
const pages = groups.flatMap((group) => group.pages)
const written = new Map(
  pages.map((page) => [urlOf(page), renderShell({ groups, searchUrl: '/docs/search.json' }, page)]),
)

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found)

test('every link of the documentation leads to a page, and to a heading on it', () => {
  const ids = new Map([...written].map(([url, text]) => [url, matches(text, / id="([^"]+)"/g)]))
  const faults = [...written].flatMap(([url, text]) =>
    matches(text, / href="([^"]+)"/g)
      .filter((href) => !/^https?:|^\{|^\/(dashboard|openapi\.json)/.test(href))
      .filter((href) => {
        const { pathname, hash } = new URL(href, `http://souk${url}`)
        const there = ids.get(pathname)
        return there === undefined || (hash !== '' && !there.includes(hash.slice(1)))
      })
      .map((href) => `${url}: ${href}`),
  )
  assert.deepEqual(faults, [])
})

test('no id occurs twice on a page', () => {
  for (const [url, text] of written) {
    const ids = matches(text, / id="([^"]+)"/g)
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at)
    assert.deepEqual(twice, [], url)
  }
})

test('every endpoint is on one page, and its former address is on the start page', () => {
  const start = written.get('/docs/') ?? ''
  for (const { operationId } of operationsOf(readApi())) {
    const found = pages.filter(({ headings }) => headings.some(({ id }) => id === operationId))
    assert.equal(found.length, 1, operationId)
    const url = `${urlOf(found[0] as Page)}#${operationId}`
    assert.ok(start.includes(`<li id="${operationId}"><a class="link" href="${url}"`), operationId)
  }
  assert.ok(start.includes('<li id="errors">'))
})

test('the table of errors lists every error with its remedy', () => {
  const page = written.get('/docs/errors/') ?? ''
  for (const { code, message } of Object.values(ERRORS)) {
    assert.ok(page.includes(`<div id="${code}">`), message)
  }
})

test('the search finds an endpoint, an error code and a rule by their headings', () => {
  const index = MiniSearch.loadJSON<SearchEntry>(searchIndex(pages), SEARCH_OPTIONS)
  const first = (words: string) => index.search(words)[0]?.id
  assert.equal(first('create smart link'), '/docs/api/publishers/#createSmartLink')
  assert.equal(first('4306'), '/docs/errors/#4306')
  assert.equal(first('content security policy'), '/docs/tag/#content-security-policy')
  assert.equal(first('match prodcuts'), '/docs/guides/match-products/')
})

test('documents show HTML as text, and drop links to files that are not on the site', () => {
  const source = '# T\n\n<img src=x> [a](x.ts) [b](#c) `spec/x.md`\n\n<!-- note -->\n\n<b>c</b>'
  const { title, body } = renderMarkdown(source, {
    resolve: (href) => (href.startsWith('#') ? href : null),
  })
  assert.equal(title, 'T')
  assert.equal(
    body.html,
    '<p>&lt;img src=x&gt; a <a class="link" href="#c">b</a> <code>spec/x.md</code></p>\n' +
      '<p>&lt;b&gt;c&lt;/b&gt;</p>\n',
  )
})

test('equal headings get different ids, formed as on GitHub', () => {
  const ids = new HeadingIds()
  assert.deepEqual(
    ["A shop's pages", 'Prices & text', "A shop's pages"].map((text) => ids.next(text)),
    ['a-shops-pages', 'prices--text', 'a-shops-pages-1'],
  )
})
