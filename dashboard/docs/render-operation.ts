/** Renders one endpoint of the API reference: parameters, body, responses, errors and examples. */
import { ERRORS, type ErrorName } from '../../src/platform/errors/api-errors.ts'
import { type Html, html } from '../../src/platform/text/html.ts'
import {
  type Answer,
  hasHeader,
  isFile,
  isSigned,
  needsKey,
  type Operation,
  schemaOf,
} from './api-description.ts'
import { codeBlock } from './code-block.ts'
import { codeTabs } from './code-tabs.ts'
import { callOf, LANGUAGES, writeCall } from './example-call.ts'
import { titleLine } from './markdown.ts'
import { errorsOf } from './operation-errors.ts'
import { exampleOf, type Field, fieldsOf, listed, type Schema, toField } from './schema-fields.ts'

export function renderOperation(operation: Operation): Html {
  const { place, operationId, description = '', requestBody, responses } = operation
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: where, schema, description, required }) => {
      const words = description ?? schema.description ?? ''
      const field = toField(name, { ...schema, description: words }, required === true)
      return { ...field, rules: listed([where === 'query' ? '' : `in the ${where}`, field.rules]) }
    },
  )
  const body = schemaOf(requestBody?.content)
  const answers = Object.entries(responses).filter(([code]) => /^[23]/.test(code))
  return html`<article class="operation">
    <div class="facts">
    ${titleLine(operationId, 2, html`${titleOf(operation)}`)}
    <p class="place"><span class="method">${place.method}</span> ${breakable(place.path, '/')}</p>
    <p class="soft">${accessWords(operation)}</p>
    ${paragraphs(description)}
    ${retryWords(operation)}
    ${fieldTable('Parameters', parameters)}
    ${fieldTable('Body', body === undefined ? [] : fieldsOf(body))}
    ${isFile(body) ? fieldTable('Body', [toField('body', body, false)]) : null}
    ${answers.map(([status, answer]) => renderAnswer(status, answer))}
    ${errorLinks(errorsOf(operation))}
    </div>
    <div class="examples">
    ${callTabs(operation)}
    ${answers.map(([status, answer]) => exampleAnswer(status, answer))}
    </div>
  </article>`
}

export const titleOf = ({ summary, operationId }: Operation): string => summary ?? operationId

export function callTabs(operation: Operation, id = operation.operationId): Html {
  const call = callOf(operation)
  return codeTabs(
    `call-${id}`,
    LANGUAGES.map((language) => ({ name: language, code: writeCall(call, language) })),
  )
}

const paragraphs = (text: string) =>
  text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => html`<p>${withCode(part)}</p>`)

/** Text between backticks is code. */
export const withCode = (text: string): Html[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))

function accessWords(operation: Operation): Html {
  const { security = [] } = operation
  if (isSigned(operation)) return html`Signed with the merchant’s postback secret`
  if (security.length === 0) return html`No key`
  if (!needsKey(operation)) return html`The key is optional, but an invalid key is refused`
  const permission = operation['x-permission'] ?? null
  const callers = security.some((one) => 'session' in one)
    ? 'an API key or a session'
    : 'an API key'
  return permission === null
    ? html`Needs ${callers}`
    : html`Needs ${callers} with the permission <code>${permission}</code>`
}

function retryWords(operation: Operation): Html | null {
  if (!hasHeader(operation, 'idempotency-key')) return null
  return html`<p>Send an <a class="link" href="/docs/api/#idempotency"><code>Idempotency-Key</code></a>
    to make retries safe.</p>`
}

export function fieldTable(title: string, fields: readonly Field[]): Html | null {
  if (fields.length === 0) return null
  return html`<h3>${title}</h3>
    <dl class="fields">${fields.map(
      ({ path, type, isRequired, rules, description }) => html`
      <div><dt>${breakable(path, '.')}</dt>
        <dd><span class="soft">${listed([type, isRequired ? '' : 'optional', rules])}</span>
          ${description === '' ? null : html`<span class="about">${withCode(description)}</span>`}</dd>
      </div>`,
    )}</dl>`
}

/** A long path breaks after a mark between names, not within a name. */
const breakable = (path: string, mark: '.' | '/') =>
  path
    .split(mark)
    .map((part, at) => html`${at === 0 ? '' : mark}${at === 0 ? null : html`<wbr>`}${part}`)

function renderAnswer(status: string, answer: Answer): Html | null {
  const schema = schemaOf(answer.content)
  // The introduction describes the envelope, which is the same everywhere.
  const fields = (schema ? fieldsOf(schema) : []).filter(({ path }) => !/^info\b/.test(path))
  if (schema === undefined || fields.length === 0) return plainAnswer(status, answer)
  return fieldTable(`Response ${status}`, fields)
}

function plainAnswer(
  status: string,
  { description, headers = {}, content = {} }: Answer,
): Html | null {
  if (description === undefined) return null
  const named = Object.keys(headers).map((name) => `header ${name}`)
  const words = listed([description, ...named, ...Object.keys(content)])
  return html`<h3>Response ${status}</h3><p>${withCode(words)}</p>`
}

function exampleAnswer(status: string, { content }: Answer): Html | null {
  const isJson = Object.keys(content ?? {})[0] === 'application/json'
  const schema = schemaOf(content)
  if (schema === undefined || !isJson) return null
  return html`<p class="caption">Response ${status}</p>${codeBlock(exampleText(schema, status))}`
}

/** The envelope of an example contains the status of the response. */
function exampleText(answer: Schema, status: string): string {
  return JSON.stringify(
    exampleOf(answer),
    (name, value) => (name === 'info' ? { ...value, status: Number(status) } : value),
    2,
  )
}

function errorLinks(names: readonly ErrorName[]): Html {
  const links = names.map((name, at) => {
    const { status, code, message } = ERRORS[name]
    return html`${at === 0 ? '' : ', '}<a class="link" href="/docs/errors/#${code}" title="${message}">${status} (${code})</a>`
  })
  return html`<h3>Errors</h3><p>${links}</p>`
}
