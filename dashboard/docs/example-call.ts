/** Example calls of the API, as a shell command, in TypeScript and in Python. */
import {
  isFile,
  isSent,
  isSigned,
  needsKey,
  type Operation,
  sampleOf,
  schemaOf,
} from './api-description.ts'
import { exampleOf } from './schema-fields.ts'

export interface Call {
  readonly method: string
  readonly url: string
  readonly isKeyed: boolean
  readonly isSigned: boolean
  /** The body is the file feed.csv. */
  readonly isUpload: boolean
  readonly body?: unknown
  /** How the answer is read. */
  readonly answer: 'json' | 'text' | 'status' | 'redirect'
}

/** Values of an example that differ from those of the reference. */
export interface CallValues {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly answer?: Call['answer']
}

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const
export type Language = (typeof LANGUAGES)[number]

/** The reader's own ids where a path contains them. */
const OWN_IDS: Readonly<Record<string, string>> = {
  pub_id: 'YOUR-PUBLISHER-ID',
  merch_id: 'YOUR-MERCHANT-ID',
  slug: 'YOUR-SLUG',
  publisher_slug: 'YOUR-SLUG',
}

/** The server inserts its base URL when it serves the page. */
export function callOf(operation: Operation, values: CallValues = {}): Call {
  const schema = schemaOf(operation.requestBody?.content)
  const isUpload = isFile(schema)
  const usual = schema === undefined || isUpload ? undefined : exampleOf(schema)
  const body = values.body ?? usual
  return {
    method: operation.place.method,
    url: addressOf(operation, values),
    isKeyed: needsKey(operation),
    isSigned: isSigned(operation),
    isUpload,
    ...(body === undefined ? {} : { body }),
    answer: values.answer ?? answerOf(operation),
  }
}

function addressOf({ place, parameters = [], servers }: Operation, values: CallValues): string {
  const server = servers?.[0]?.url ?? '{base_url}'
  const path = parameters
    .filter((one) => one.in === 'path')
    .reduce((text, one) => {
      const sample = values.path?.[one.name] ?? OWN_IDS[one.name] ?? String(sampleOf(one))
      return text.replace(`{${one.name}}`, () => encodeURIComponent(sample))
    }, place.path)
  const query = parameters
    .filter((one) => one.in === 'query')
    .flatMap((one) => {
      const usual = isSent(one) ? (OWN_IDS[one.name] ?? String(sampleOf(one))) : undefined
      const value = values.query === undefined ? usual : values.query[one.name]
      return value === undefined ? [] : [`${one.name}=${encodeURIComponent(value)}`]
    })
  return `${server}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

function answerOf({ responses }: Operation): Call['answer'] {
  const statuses = Object.keys(responses)
  if (statuses.includes('302')) return 'redirect'
  const [status = ''] = statuses.filter((one) => /^2/.test(one))
  const types = Object.keys(responses[status]?.content ?? {})
  if (types.length === 0) return 'status'
  return types.includes('application/json') ? 'json' : 'text'
}

export function writeCall(call: Call, language: Language): string {
  return { curl: asCurl, TypeScript: asTypeScript, Python: asPython }[language](call)
}

/** JSON in which the reader's own numbers are written without quotes. */
const asJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(/"(YOUR-(?:PUBLISHER|MERCHANT)-ID)"/g, '$1')

const FILE_TYPE = 'application/octet-stream'
const KEY_HEADER = 'SERVICE-API-KEY YOUR-API-KEY'

function asCurl(call: Call): string {
  const { method, url, isKeyed, isSigned, body } = call
  const json = body === undefined ? null : asJson(body)
  const line = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`,
    ...(isKeyed ? [`-H 'Authorization: ${KEY_HEADER}'`] : []),
    ...(isSigned ? CURL_SIGNATURE : []),
    ...(json === null ? [] : ["-H 'Content-Type: application/json'"]),
    ...(call.isUpload ? [`-H 'Content-Type: ${FILE_TYPE}'`, '--data-binary @feed.csv'] : []),
    ...(json === null ? [] : [isSigned ? '-d "$body"' : `-d '${json.replaceAll("'", `'\\''`)}'`]),
    ...(call.answer === 'redirect' ? ["-o /dev/null -s -w '%{redirect_url}\\n'"] : []),
  ].join(' \\\n  ')
  return isSigned ? `body='${json ?? ''}'\ntime=$(date +%s)\n${CURL_SIGN}\n${line}` : line
}

/** The signature covers the exact bytes of the body and the time (signed-request.ts). */
const CURL_SIGN = `signature=$(printf %s "$time.$body" \\
  | openssl dgst -sha256 -hmac 'YOUR-POSTBACK-SECRET' -r | cut -d ' ' -f 1)`
const CURL_SIGNATURE = ['-H "X-Souk-Timestamp: $time"', '-H "X-Souk-Signature: $signature"']

/** The headers of a call as lines of an object or a dictionary; values are code. */
function headersOf(
  call: Call,
  { quote, time }: { readonly quote: (text: string) => string; readonly time: string },
): (readonly [string, string])[] {
  return [
    ...(call.isKeyed ? [['Authorization', quote(KEY_HEADER)] as const] : []),
    ...(call.isSigned
      ? ([
          ['X-Souk-Timestamp', time],
          ['X-Souk-Signature', 'signature'],
        ] as const)
      : []),
    ...(call.body === undefined ? [] : [['Content-Type', quote('application/json')] as const]),
    ...(call.isUpload ? [['Content-Type', quote(FILE_TYPE)] as const] : []),
  ]
}

const indent = (text: string, by: string) => text.replaceAll('\n', `\n${by}`)

function asTypeScript(call: Call): string {
  const { method, url, isSigned, body, answer } = call
  const headers = headersOf(call, { quote: (text) => `'${text}'`, time: 'time' }).map(
    ([name, value]) => `    ${/^\w+$/.test(name) ? name : `'${name}'`}: ${value},`,
  )
  const json = body === undefined ? null : typeScriptLiteral(body)
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(answer === 'redirect' ? ["  redirect: 'manual',"] : []),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(call.isUpload ? ["  body: await openAsBlob('feed.csv'),"] : []),
    ...(json === null
      ? []
      : [isSigned ? '  body,' : `  body: JSON.stringify(${indent(json, '  ')}),`]),
  ]
  const signed = [
    "import { createHmac } from 'node:crypto'",
    '',
    json === null ? "const body = ''" : `const body = JSON.stringify(${json})`,
    'const time = String(Math.floor(Date.now() / 1000))',
    "const signature = createHmac('sha256', 'YOUR-POSTBACK-SECRET')",
    "  .update(time + '.' + body)",
    "  .digest('hex')",
    '',
  ]
  return [
    ...(isSigned ? signed : []),
    ...(call.isUpload ? ["import { openAsBlob } from 'node:fs'", ''] : []),
    ...(options.length === 0
      ? [`const response = await fetch('${url}')`]
      : [`const response = await fetch('${url}', {`, ...options, '})']),
    ...TYPESCRIPT_ANSWERS[answer],
  ].join('\n')
}

const TYPESCRIPT_ANSWERS: Readonly<Record<Call['answer'], readonly string[]>> = {
  json: [
    'const answer = await response.json()',
    'if (!response.ok) throw new Error(answer.error.message)',
    'console.log(JSON.stringify(answer, null, 2))',
  ],
  text: ['console.log(await response.text())'],
  status: ['console.log(response.status)'],
  redirect: ["console.log(response.headers.get('location'))"],
}

/** Keys without quotes where possible, texts in single quotes. */
function typeScriptLiteral(value: unknown): string {
  return asJson(value)
    .replace(/^(\s*)"(\w+)":/gm, '$1$2:')
    .replace(/"((?:[^"\\]|\\.)*)"/g, (text, inner: string) =>
      /['\\]/.test(inner) ? text : `'${inner}'`,
    )
}

function asPython(call: Call): string {
  const { method, url, isSigned, body } = call
  const headers = headersOf(call, { quote: (text) => `"${text}"`, time: 'timestamp' }).map(
    ([name, value]) => `        "${name}": ${value},`,
  )
  const dump = body === undefined ? null : `json.dumps(${pythonLiteral(body)}).encode()`
  const imports = [
    ...(isSigned ? ['hashlib', 'hmac'] : []),
    ...(call.answer === 'json' || body !== undefined ? ['json'] : []),
    ...(isSigned ? ['time'] : []),
    'urllib.request',
  ]
  const options = [
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    ...(headers.length === 0 ? [] : ['    headers={', ...headers, '    },']),
    ...(call.isUpload ? ['    data=open("feed.csv", "rb").read(),'] : []),
    ...(dump === null ? [] : [isSigned ? '    data=body,' : `    data=${indent(dump, '    ')},`]),
  ]
  return [
    ...imports.map((name) => `import ${name}`),
    '',
    ...(isSigned ? pythonSignature(dump) : []),
    ...(options.length === 0
      ? [`request = urllib.request.Request("${url}")`]
      : ['request = urllib.request.Request(', `    "${url}",`, ...options, ')']),
    ...PYTHON_ANSWERS[call.answer],
  ].join('\n')
}

function pythonSignature(dump: string | null): string[] {
  return [
    `body = ${dump ?? 'b""'}`,
    'timestamp = str(int(time.time()))',
    'signature = hmac.new(',
    '    b"YOUR-POSTBACK-SECRET", timestamp.encode() + b"." + body, hashlib.sha256',
    ').hexdigest()',
    '',
  ]
}

const PYTHON_ANSWERS: Readonly<Record<Call['answer'], readonly string[]>> = {
  json: [
    'with urllib.request.urlopen(request) as response:',
    '    answer = json.load(response)',
    'print(json.dumps(answer, indent=2))',
  ],
  text: [
    'with urllib.request.urlopen(request) as response:',
    '    print(response.read().decode())',
  ],
  status: ['with urllib.request.urlopen(request) as response:', '    print(response.status)'],
  redirect: [
    'with urllib.request.urlopen(request) as response:',
    '    print(response.url)  # The page that the redirect led to',
  ],
}

/** A dictionary with the same layout as JSON. Keywords are outside of texts. */
function pythonLiteral(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
  return asJson(value).replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (text) => words[text] ?? text,
  )
}
