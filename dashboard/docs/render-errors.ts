/** Renders the table of errors, with the remedy for each. */
import { ERRORS, type ErrorName } from '../../src/platform/errors/api-errors.ts'
import { type Html, html } from '../../src/platform/text/html.ts'
import { codeBlock } from './code-block.ts'
import { ERROR_HELP } from './error-help.ts'
import { titleLine } from './markdown.ts'
import type { Page } from './page.ts'
import { withCode } from './render-operation.ts'

/** An answer with the faults of two fields. */
const EXAMPLE = {
  info: { error: true, status: 400 },
  data: [],
  error: {
    code: ERRORS.badRequest.code,
    message: 'article_name: is missing; article_url: must be an absolute http(s) URL',
    data: [
      { field: 'article_name', rule: 'is missing' },
      { field: 'article_url', rule: 'must be an absolute http(s) URL' },
    ],
  },
}

export function errorsPage(): Page {
  const names = (Object.keys(ERRORS) as ErrorName[]).toSorted(
    (one, other) =>
      ERRORS[one].status - ERRORS[other].status || ERRORS[one].code - ERRORS[other].code,
  )
  return {
    path: 'errors/',
    title: 'Errors',
    lead: 'Every error has a code, a message that says what to change, and a remedy.',
    body: html`<div class="prose">
      ${titleLine('envelope', 2, html`Envelope`)}
      <p>A refused call is answered with its HTTP status, an empty <code>data</code>, and
      <code>error</code>. For status 400, <code>error.data</code> lists every fault. For status 429
      and 503, <code>Retry-After</code> says how many seconds to wait.</p>
      ${codeBlock(JSON.stringify(EXAMPLE, null, 2))}
      ${titleLine('codes', 2, html`Codes`)}
      <dl class="errors">${names.map(renderError)}</dl>
    </div>`,
    headings: [
      { id: 'envelope', text: 'Envelope', depth: 2 },
      { id: 'codes', text: 'Codes', depth: 2 },
    ],
    sections: names.map((name) => {
      const { status, code, message } = ERRORS[name]
      const text = `${status} ${code} ${name} ${ERROR_HELP[name]}`
      return { id: String(code), heading: `${code}: ${message}`, text }
    }),
  }
}

function renderError(name: ErrorName): Html {
  const { status, code, message } = ERRORS[name]
  return html`<div id="${code}"><dt><span class="code-number">${code}</span> <span class="soft">HTTP ${status}</span></dt>
    <dd><p>${message}</p><p class="soft">${withCode(ERROR_HELP[name])}</p></dd></div>`
}
