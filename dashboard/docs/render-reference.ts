/** Renders the API reference from openapi.json: an overview and a page for each tag. */
import { type Html, html } from '../../src/platform/text/html.ts'
import { type OpenApi, type Operation, operationsOf } from './api-description.ts'
import { codeTabs } from './code-tabs.ts'
import { LANGUAGES, writeCall } from './example-call.ts'
import { HeadingIds } from './heading-id.ts'
import { titleLine } from './markdown.ts'
import { type Heading, type Page, type Section, urlOf } from './page.ts'
import { renderOperation, titleOf } from './render-operation.ts'

/** Titles of the tags' pages, in the order of the menu. */
const TITLES: Readonly<Record<string, string>> = {
  publishers: 'Publishers',
  merchants: 'Merchants',
  account: 'Account',
  network: 'Network',
  readers: 'Calls from browsers',
}

export function referencePages(api: OpenApi): Page[] {
  const operations = operationsOf(api)
  const tags = api.tags.toSorted((one, other) => placeOf(one.name) - placeOf(other.name))
  const pages = tags.map(({ name, description }) => {
    const own = operations.filter((one) => one.tags.includes(name))
    return tagPage(TITLES[name] ?? name, { path: `api/${name}/`, lead: `${description}.` }, own)
  })
  return [overviewPage(api, pages), ...pages]
}

function placeOf(tag: string): number {
  const place = Object.keys(TITLES).indexOf(tag)
  return place === -1 ? Number.POSITIVE_INFINITY : place
}

function tagPage(
  title: string,
  { path, lead }: Pick<Page, 'path'> & { readonly lead: string },
  operations: readonly Operation[],
): Page {
  return {
    path,
    title,
    lead,
    body: html`${operations.map(renderOperation)}`,
    headings: operations.map((one) => ({ id: one.operationId, text: titleOf(one), depth: 2 })),
    sections: operations.map(sectionOf),
  }
}

function sectionOf(operation: Operation): Section {
  const { operationId, place, description = '', parameters = [] } = operation
  const names = parameters.map(({ name }) => name).join(' ')
  return {
    id: operationId,
    heading: titleOf(operation),
    text: `${place.method} ${place.path} ${description} ${operationId} ${names}`,
  }
}

/** Where each operation and the table of errors were on the former single page. */
export function endpointIndex(pages: readonly Page[]): Html {
  return html`${pages
    .filter(({ path }) => path.startsWith('api/') && path !== 'api/')
    .map(
      (page) => html`<h3>${page.title}</h3>
    <ul class="index">${page.headings.map(
      ({ id, text }) =>
        html`<li id="${id}"><a class="link" href="${urlOf(page)}#${id}">${text}</a></li>`,
    )}</ul>`,
    )}`
}

interface Part {
  readonly title: string
  readonly text: Html
  readonly words: string
}

function overviewPage(api: OpenApi, pages: readonly Page[]): Page {
  const ids = new HeadingIds()
  const parts = overviewParts(pages).map((part) => ({ ...part, id: ids.next(part.title) }))
  const headings: Heading[] = parts.map(({ id, title }) => ({ id, text: title, depth: 2 }))
  return {
    path: 'api/',
    title: 'API overview',
    lead: api.info.description,
    body: html`<div class="prose">${parts.map(
      ({ id, title, text }) => html`${titleLine(id, 2, html`${title}`)}${text}`,
    )}</div>`,
    headings,
    sections: parts.map(({ id, title, words }) => ({ id, heading: title, text: words })),
  }
}

function overviewParts(pages: readonly Page[]): Part[] {
  return [
    {
      title: 'Endpoints',
      words: pages.map(({ title }) => title).join(' '),
      text: html`<ul>${pages.map(
        (page) =>
          html`<li><a class="link" href="${urlOf(page)}">${page.title}</a>: ${page.lead ?? ''} ${page.headings.length} endpoints.</li>`,
      )}</ul><p>Programs read the same from <a class="link" href="/openapi.json">openapi.json</a>
        (OpenAPI 3.1).</p>`,
    },
    keyPart(),
    {
      title: 'Format',
      words: 'ids amounts decimal strings times UTC envelope info data unknown fields slash',
      text: html`<p>Most responses contain <code>info</code>, with the HTTP status, and
        <code>data</code>, a list. Ids of 64 bits are strings. Amounts are decimal strings of US
        dollars. Times are ISO 8601 in UTC.</p>
        <p>The final slash of a path is optional. Unknown JSON fields are ignored.</p>`,
    },
    {
      title: 'Errors',
      words: 'error code message data field rule',
      text: html`<p>A refused call has a 4xx status, and <code>error</code> with a code, a message
        and every fault. <a class="link" href="/docs/errors/">Errors</a> lists the codes, and the
        remedy for each.</p>`,
    },
    {
      title: 'Idempotency',
      words: 'Idempotency-Key retry safe creation 409',
      text: html`<p>A creation takes the header <code>Idempotency-Key</code>: at most 255 printable
        ASCII characters, different for each creation. For 24 hours the same key and body get the
        first answer, so a retry after a broken connection creates nothing twice. The same key with
        another body gets <a class="link" href="/docs/errors/#4090">409 (4090)</a>.</p>`,
    },
    {
      title: 'Pages of a list',
      words: 'limit cursor next_cursor paging csv',
      text: html`<p>Management lists take <code>limit</code> (100 by default, 500 at most) and
        <code>cursor</code>. Pass the <code>next_cursor</code> of one page to get the next one;
        null marks the end. With <code>Accept: text/csv</code> you get all pages as one file.</p>`,
    },
    {
      title: 'Changes by several people',
      words: 'etag If-Match 412 conflict',
      text: html`<p>A record’s answer contains an <code>etag</code>. Send it as
        <code>If-Match</code> with a change: the change is refused with 412 if somebody else
        changed the record first.</p>`,
    },
    {
      title: 'Limits',
      words: 'rate limit 429 Retry-After body size',
      text: html`<p>A limited call gets 429 with <code>Retry-After</code> in seconds.
        <a class="link" href="/docs/rules/limits/">Limits</a> lists rates and body sizes.</p>`,
    },
  ]
}

function keyPart(): Part {
  const call = {
    method: 'GET',
    url: '{base_url}/api/v1/tokeninfo/',
    ...{ isKeyed: true, isSigned: false, isUpload: false },
    answer: 'json',
  } as const
  const tabs = LANGUAGES.map((language) => ({ name: language, code: writeCall(call, language) }))
  return {
    title: 'API keys',
    words: 'authorization header SERVICE-API-KEY scopes permission TypeScript Python curl',
    text: html`<p>Create a key on the dashboard page
      <a class="link" href="/dashboard/developer">Developer options</a>. A key has at most the
      permissions of its user, or fewer: its scopes. Send it with each call:</p>
      ${codeTabs('key', tabs)}
      <p>The examples need curl, Node 20 or Python 3. They use no other library.</p>`,
  }
}
