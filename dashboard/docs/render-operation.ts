/** Renders one endpoint of the API reference: parameters, body, responses, and an example call. */
import { type Html, html } from '../../src/platform/text/html.ts'
import { exampleOf, type Field, fieldsOf, listed, type Schema, toField } from './schema-fields.ts'

export interface Operation {
  readonly place: { readonly method: string; readonly path: string }
  readonly operationId: string
  readonly tags: readonly string[]
  readonly 'x-permission'?: string | null
  readonly summary?: string
  readonly description?: string
  readonly servers?: readonly { readonly url: string }[]
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Answer>>
}

interface Answer {
  readonly description?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Content
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

export function renderOperation(operation: Operation): Html {
  const { place, operationId, summary, description = '', requestBody, responses } = operation
  const parameters = (operation.parameters ?? []).map(({ name, schema, description, required }) => {
    const words = description ?? schema.description ?? ''
    return toField(name, { ...schema, description: words }, required === true)
  })
  const body = requestBody && schemaOf(requestBody.content)
  const answers = Object.entries(responses).filter(([code]) => /^[23]/.test(code))
  return html`<article id="${operationId}" class="panel scroll-mt-6 p-4 sm:p-5">
    <h3 class="font-semibold">${summary ?? operationId}</h3>
    <p class="mt-1 font-mono text-[0.8125rem] break-all"><span class="font-semibold text-accent">${place.method}</span> ${place.path}</p>
    <p class="mt-1 text-sm text-soft">${keyWords(operation)}</p>
    ${paragraphs(description)}
    ${fieldTable('Parameters', parameters)}
    ${fieldTable('Body', body === undefined ? [] : fieldsOf(body))}
    ${isFile(body) ? fieldTable('Body', [toField('body', body, false)]) : null}
    ${example('Example', [curlOf(operation, body)])}
    ${answers.map(([status, answer]) => renderAnswer(status, answer))}
  </article>`
}

const paragraphs = (text: string) =>
  text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => html`<p class="mt-2 max-w-prose wrap-anywhere">${withCode(part)}</p>`)

/** Text between backticks is code. */
const withCode = (text: string) =>
  text
    .split('`')
    .map((part, at) =>
      at % 2 === 1 ? html`<code class="font-mono text-[0.8125rem]">${part}</code>` : part,
    )

function keyWords(operation: Operation): string {
  const { security = [] } = operation
  if (security.length === 0) return isSigned(operation) ? 'Signed by the merchant' : 'No key'
  return security.some((one) => Object.keys(one).length === 0)
    ? 'The key is optional, but an invalid key is refused'
    : `Needs an API key or a session${permissionWords(operation)}`
}

function permissionWords(operation: Operation): string {
  const permission = operation['x-permission'] ?? null
  return permission === null ? '' : `, with the permission ${permission}`
}

function fieldTable(title: string, fields: readonly Field[]): Html | null {
  if (fields.length === 0) return null
  return html`<h4 class="mt-5 mb-1 text-sm font-semibold">${title}</h4>
    <dl class="divide-y divide-line border-y border-line text-sm">${fields.map(
      ({ path, type, isRequired, rules, description }) => html`
      <div class="gap-x-6 py-1.5 sm:grid sm:grid-cols-[minmax(12rem,2fr)_3fr]">
        <dt class="font-mono text-[0.8125rem] wrap-anywhere">${breakable(path)}</dt>
        <dd><span class="text-soft">${listed([type, isRequired ? '' : 'optional', rules])}</span>
          <span class="block">${withCode(description)}</span></dd>
      </div>`,
    )}</dl>`
}

/** A long path breaks before a name, not within one. */
const breakable = (path: string) => path.split(/(?<=\.)/).map((part) => html`<wbr>${part}`)

function example(title: string, lines: readonly string[]): Html {
  return html`<h4 class="mt-5 mb-1 text-sm font-semibold">${title}</h4>
    <pre class="code" tabindex="0">${lines.join('\n')}</pre>`
}

function renderAnswer(status: string, answer: Answer): Html | null {
  const schema = answer.content && schemaOf(answer.content)
  // The introduction describes the envelope, which is the same everywhere.
  const fields = (schema ? fieldsOf(schema) : []).filter(({ path }) => !/^info\b/.test(path))
  if (schema === undefined || fields.length === 0) return plainAnswer(status, answer)
  return html`${fieldTable(`Response ${status}`, fields)}${folded(schema, Number(status))}`
}

function plainAnswer(
  status: string,
  { description, headers = {}, content = {} }: Answer,
): Html | null {
  if (description === undefined) return null
  const named = Object.keys(headers).map((name) => `header ${name}`)
  const words = listed([description, ...named, ...Object.keys(content)])
  return html`<h4 class="mt-5 mb-1 text-sm font-semibold">Response ${status}</h4><p class="text-sm">${withCode(words)}</p>`
}

/** The envelope of an example contains the status of the response. */
function folded(answer: Schema, status: number): Html {
  const sample = JSON.stringify(
    exampleOf(answer),
    (name, value) => (name === 'info' ? { ...value, status } : value),
    2,
  )
  return html`<details class="mt-3 text-sm"><summary class="py-1 text-soft hover:text-ink">Example response</summary>
    <pre class="code mt-1" tabindex="0">${sample}</pre></details>`
}

/** Whether the example call sends a parameter: it is required, or one of a group is. */
export const isSent = ({ required, example }: Parameter) =>
  required === true || example !== undefined

export const sampleOf = ({ name, schema, example }: Parameter): unknown =>
  example ?? exampleOf(schema, name)

const isSigned = ({ parameters = [] }: Operation) =>
  parameters.some(({ name }) => name === 'x-souk-signature')

/** The call as a shell command. The server inserts its base URL when it serves the page. */
function curlOf(operation: Operation, body?: Schema): string {
  const { method } = operation.place
  const { security = [] } = operation
  const isKeyed = security.length > 0 && security.every((one) => Object.keys(one).length > 0)
  const isUpload = isFile(body)
  const json = body === undefined || isUpload ? null : JSON.stringify(exampleOf(body), null, 2)
  const signed = isSigned(operation)
  const call = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${addressOf(operation)}'`,
    ...(isKeyed ? ["-H 'Authorization: SERVICE-API-KEY <your key>'"] : []),
    ...(signed ? SIGNATURE_HEADERS : []),
    ...(isUpload ? ["-H 'Content-Type: application/octet-stream'", '--data-binary @file'] : []),
    ...(json === null ? [] : ["-H 'Content-Type: application/json'"]),
    ...(json === null ? [] : [signed ? '-d "$body"' : `-d '${json}'`]),
  ].join(' \\\n  ')
  return signed ? `body='${json ?? ''}'\ntime=$(date +%s)\n${SIGN}\n${call}` : call
}

/** Whether a body is a file instead of JSON. */
const isFile = (body?: Schema): body is Schema => body?.format === 'binary'

/** The signature covers the exact bytes of the body and the time (signed-request.ts). */
const SIGN = `signature=$(printf %s "$time.$body" \\
  | openssl dgst -sha256 -hmac '<your postback secret>' -r | cut -d ' ' -f 1)`
const SIGNATURE_HEADERS = ['-H "X-Souk-Timestamp: $time"', '-H "X-Souk-Signature: $signature"']

function addressOf({ place, parameters = [], servers }: Operation): string {
  const server = servers?.[0]?.url ?? '{base_url}'
  const encoded = (one: Parameter) => encodeURIComponent(String(sampleOf(one)))
  const path = parameters
    .filter((one) => one.in === 'path')
    .reduce((text, one) => text.replace(`{${one.name}}`, encoded(one)), place.path)
  const query = parameters
    .filter((one) => one.in === 'query' && isSent(one))
    .map((one) => `${one.name}=${encoded(one)}`)
    .join('&')
  return `${server}${path}${query === '' ? '' : `?${query}`}`
}

/** The schema of the only content type. */
function schemaOf(content: Content): Schema | undefined {
  return Object.values(content)[0]?.schema
}
