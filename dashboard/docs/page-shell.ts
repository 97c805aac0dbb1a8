/** Renders a page of the site with its header, menu, contents, and the pages before and after. */
import { type Html, html } from '../../src/platform/text/html.ts'
import { type Page, type PageGroup, urlOf } from './page.ts'

export interface Site {
  readonly groups: readonly PageGroup[]
  /** The URL of the search index. */
  readonly searchUrl: string
}

/** The body of the page; the file docs.html has the head. */
export function renderShell(site: Site, page: Page): string {
  return html`<a href="#content" class="skip">Skip to the content</a>
<header class="top">
  <div class="bar">
    <a href="/docs/" class="brand"><img src="./favicon.svg" alt="" width="24" height="24"> Souk</a>
    <span class="sub">Documentation</span>
    <button type="button" class="search-button" data-search="${site.searchUrl}"><span>Search</span> <kbd>/</kbd></button>
    <a href="/dashboard/" class="link to-dashboard">Dashboard</a>
  </div>
  <details class="menu"><summary>Menu</summary>${menu(site, page)}</details>
</header>
<div class="columns">
  <div class="side">${menu(site, page)}</div>
  <main id="content" class="${isReference(page) ? 'wide' : 'plain'}">
    <h1>${page.path === '' ? 'Souk documentation' : page.title}</h1>
    ${page.lead === undefined ? null : html`<p class="lead">${page.lead}</p>`}
    ${contentsBox(page)}
    ${page.body}
    ${neighbors(site, page)}
  </main>
  ${isReference(page) ? null : html`<div class="aside">${contents(page)}</div>`}
</div>`.html
}

/** Reference pages need the space of the contents for their examples. */
const isReference = ({ path }: Page) => /^api\/./.test(path)

function menu({ groups }: Site, page: Page): Html {
  return html`<nav aria-label="Documentation">${groups.map(
    ({ title, pages }) =>
      html`<p class="menu-title">${title}</p><ul>${pages.map(
        (one) =>
          html`<li><a class="menu-link" href="${urlOf(one)}"${one.path === page.path ? html` aria-current="page"` : null}>${one.title}</a></li>`,
      )}</ul>`,
  )}</nav>`
}

/** Fewer headings need no contents. */
const CONTENTS_MIN = 3

function contents(page: Page): Html | null {
  const headings = page.headings.filter(({ depth }) => depth <= 3)
  if (headings.length < CONTENTS_MIN) return null
  return html`<nav aria-label="On this page" class="toc"><p class="menu-title">On this page</p><ul class="${isReference(page) ? 'toc-columns' : ''}">${headings.map(
    ({ id, text, depth }) =>
      html`<li class="depth-${depth}"><a class="toc-link" href="#${id}">${text}</a></li>`,
  )}</ul></nav>`
}

/** The contents on narrow windows, and of the reference on all. */
function contentsBox(page: Page): Html | null {
  const list = contents(page)
  if (list === null) return null
  return html`<details class="toc-box"><summary>On this page</summary>${list}</details>`
}

function neighbors({ groups }: Site, page: Page): Html {
  const pages = groups.flatMap((group) => group.pages)
  const at = pages.findIndex(({ path }) => path === page.path)
  const [before, after] = [pages[at - 1], pages[at + 1]]
  return html`<nav aria-label="Previous and next page" class="neighbors">
    ${before === undefined ? null : html`<a class="neighbor" rel="prev" href="${urlOf(before)}"><span class="neighbor-label">Previous</span> ${before.title}</a>`}
    ${after === undefined ? null : html`<a class="neighbor" rel="next" href="${urlOf(after)}"><span class="neighbor-label">Next</span> ${after.title}</a>`}
  </nav>`
}
