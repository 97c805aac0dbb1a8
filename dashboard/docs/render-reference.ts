/**
 * Renders the API reference as one static page from openapi.json: endpoints, fields, errors,
 * examples.
 */
import { type Html, html } from '../../src/platform/text/html.ts'
import { type Operation, renderOperation } from './render-operation.ts'

export interface OpenApi {
  readonly info: { readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'place'>>>>>
}

export interface ErrorTable {
  readonly [name: string]: {
    readonly status: number
    readonly code: number
    readonly message: string
  }
}

interface Group {
  readonly title: string
  readonly words: string
  readonly operations: readonly Operation[]
}

/** The content of the page. */
export function renderReference(api: OpenApi, errors: ErrorTable): string {
  const groups = groupsOf(api)
  return html`
<a href="#reference" class="skip">Skip to the content</a>
<header class="border-b border-line bg-panel">
  <div class="mx-auto flex max-w-6xl items-center gap-6 px-4 py-4 sm:px-6">
    <a href="/dashboard/" class="font-semibold tracking-tight text-accent">Souk</a>
    <span class="text-sm font-medium">API reference</span>
    <a href="/openapi.json" class="link ml-auto text-sm">openapi.json</a>
  </div>
</header>
<main id="reference" class="mx-auto max-w-6xl gap-x-12 space-y-12 px-4 py-6 sm:px-6 sm:py-8 lg:grid lg:grid-cols-[15rem_1fr] lg:grid-rows-[auto_1fr] lg:gap-y-12 lg:space-y-0">
  ${introduction(api)}
  ${contents(groups)}
  <div class="min-w-0 space-y-12 lg:col-start-2">
    ${groups.map(renderGroup)}
    ${renderErrors(errors)}
  </div>
</main>`.html
}

/** A group for each tag of the description, in its order. */
function groupsOf({ paths, tags }: OpenApi): Group[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      place: { method: method.toUpperCase(), path },
    })),
  )
  return tags.map(({ name, description }) => ({
    title: name.charAt(0).toUpperCase() + name.slice(1),
    words: description,
    operations: operations.filter((one) => one.tags.includes(name)),
  }))
}

function contents(groups: readonly Group[]): Html {
  return html`<nav aria-label="Endpoints" class="text-sm lg:sticky lg:top-6 lg:col-start-1 lg:row-span-2 lg:row-start-1 lg:max-h-[calc(100vh-3rem)] lg:self-start lg:overflow-y-auto">
    ${groups.map(
      ({ title, operations }) => html`<p class="mt-4 mb-1 font-semibold first:mt-0">${title}</p>
    <ul>${operations.map(
      ({ operationId, summary }) =>
        html`<li><a href="#${operationId}" class="block py-1 text-soft hover:text-ink">${summary ?? operationId}</a></li>`,
    )}</ul>`,
    )}
    <p class="mt-4"><a href="#errors" class="font-semibold">Errors</a></p>
  </nav>`
}

function introduction({ info }: OpenApi): Html {
  return html`<section class="max-w-prose space-y-3 lg:col-start-2 lg:row-start-1">
    <h1>API reference</h1>
    <p>${info.description}</p>
    <p>Endpoints that need a key read it from
    <code class="font-mono text-sm">Authorization: SERVICE-API-KEY &lt;key&gt;</code>; create keys on the <a class="link" href="/dashboard/developer">developer options page</a>.
    Ids of 64 bits are strings, amounts are decimal strings of US dollars, times are ISO 8601
    in UTC. Most responses contain <code class="font-mono text-sm">info</code>, with the HTTP status, and
    <code class="font-mono text-sm">data</code>, a list. The final slash of a path is optional. Unknown JSON fields are ignored.</p>
  </section>`
}

function renderGroup({ title, words, operations }: Group): Html {
  return html`<section class="space-y-6">
    <div><h2 class="text-xl tracking-tight">${title}</h2><p class="text-soft">${words}</p></div>
    ${operations.map(renderOperation)}
  </section>`
}

function renderErrors(errors: ErrorTable): Html {
  const rows = Object.values(errors).toSorted(
    (one, other) => one.status - other.status || one.code - other.code,
  )
  return html`<section id="errors" class="scroll-mt-6 space-y-3">
    <h2 class="text-xl tracking-tight">Errors</h2>
    <p class="max-w-prose">Every error has one envelope: <code class="font-mono text-sm">info</code>, an empty
    <code class="font-mono text-sm">data</code>, and <code class="font-mono text-sm">error</code> with a code, and a
    message that says what to change. For status 400,
    <code class="font-mono text-sm">error.data</code> lists every fault as
    <code class="font-mono text-sm">{field, rule}</code>. For status 429 and 503, <code class="font-mono text-sm">Retry-After</code> says how many seconds to wait.</p>
    <div class="panel overflow-x-auto" tabindex="0">
    <table class="w-full text-left text-sm">
      <thead><tr class="border-b border-line text-soft">
        <th scope="col" class="px-4 py-2 font-medium">HTTP</th><th scope="col" class="px-4 py-2 font-medium">Code</th><th scope="col" class="px-4 py-2 font-medium">Message</th>
      </tr></thead>
      <tbody>${rows.map(
        ({ status, code, message }) =>
          html`<tr class="border-b border-line last:border-0"><td class="number px-4 py-2">${status}</td><td class="number px-4 py-2">${code}</td><td class="px-4 py-2">${message}</td></tr>`,
      )}</tbody>
    </table></div>
  </section>`
}
