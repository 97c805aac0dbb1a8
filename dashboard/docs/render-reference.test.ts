import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { Compile } from 'typebox/compile'
import { signBody } from '../../src/orders/signed-request.ts'
import { ERRORS } from '../../src/platform/errors/api-errors.ts'
import { html } from '../../src/platform/text/html.ts'
import { isSent, type Operation, operationsOf, sampleOf } from './api-description.ts'
import { callOf, LANGUAGES, writeCall } from './example-call.ts'
import { errorsOf } from './operation-errors.ts'
import { renderOperation } from './render-operation.ts'
import { referencePages } from './render-reference.ts'
import { exampleOf, fieldsOf, type Schema } from './schema-fields.ts'
import { readApi } from './site.ts'

const api = readApi()
const operations = operationsOf(api)

function operationOf(id: string): Operation {
  const operation = operations.find(({ operationId }) => operationId === id)
  assert.ok(operation, id)
  return operation
}

const rendered = (id: string): string => renderOperation(operationOf(id)).html
const curlOf = (id: string): string => writeCall(callOf(operationOf(id)), 'curl')

test('every endpoint accepts the example of its body and parameters', () => {
  const samples = operations.flatMap(({ operationId, requestBody, parameters = [] }) => [
    ...Object.values(requestBody?.content ?? {}).map(({ schema }) => ({
      name: `${operationId}: body`,
      schema,
      value: exampleOf(schema),
    })),
    ...parameters.filter(isSent).map((one) => ({
      name: `${operationId}: ${one.name}`,
      schema: one.schema,
      value: sampleOf(one),
    })),
  ])
  assert.ok(samples.length > 20)
  for (const { name, schema, value } of samples) {
    const [fault] = Compile(schema).Errors(value)
    assert.equal(fault, undefined, `${name} ${JSON.stringify(value)}`)
  }
})

test('every example response is valid for its endpoint', () => {
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content)
        .filter(([type]) => type === 'application/json' && status.startsWith('2'))
        .map(([, { schema }]) => ({ name: `${operationId} ${status}`, schema })),
    ),
  )
  assert.ok(answers.length > 20)
  for (const { name, schema } of answers) {
    const [fault] = Compile(schema).Errors(exampleOf(schema))
    assert.equal(fault, undefined, `${name}: ${fault?.instancePath} ${fault?.message}`)
  }
})

test('the example of a return belongs to the example of an order', () => {
  const bodies = new Map(
    operations.map(({ operationId, requestBody }) => {
      const [content] = Object.values(requestBody?.content ?? {})
      return [operationId, JSON.stringify(exampleOf(content?.schema ?? {}))]
    }),
  )
  assert.match(bodies.get('reportOrders') ?? '', /"id":"A-1001","value":"49.99".*"price":"49.99"/)
  assert.match(bodies.get('reportReturns') ?? '', /"id":"R-1","order_id":"A-1001","line":0/)
})

test('an example call sends one parameter of a required group, and valid values', () => {
  for (const [id, part] of [
    ['matchProduct', 'exclusive_links/?publisher_slug=YOUR-SLUG&gtin=9521000000018'],
    ['followWrapper', '/link/?url=https%3A%2F%2Fshop.example%2Fp%2F1'],
    ['createWebhook', '"events": [\n    "order.attributed"\n  ]'],
    ['askWhatIf', '"category_floors": [\n    "222:GB=0.08"\n  ]'],
  ] as const) {
    assert.ok(curlOf(id).includes(part), curlOf(id))
  }
})

test('the same call is shown in each language', () => {
  const call = callOf(operationOf('createSmartLink'))
  for (const language of LANGUAGES) {
    const code = writeCall(call, language)
    assert.match(code, /POST/, language)
    assert.ok(code.includes('{base_url}/api/v1/smart_links/'), language)
    assert.match(code, /Authorization.*SERVICE-API-KEY YOUR-API-KEY/, language)
    assert.match(code, /article_name/, language)
  }
  assert.match(writeCall(call, 'Python'), /"exclusive_match_requested": False/)
})

/** The arguments that curl receives when a shell runs the operation's example. */
function shownBy(operationId: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${curlOf(operationId)}`
  return spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout.split('\0')
}

const isWithoutOpenssl = spawnSync('openssl', ['version']).status !== 0

test('the signature in an example call matches the body it sends', {
  skip: isWithoutOpenssl && 'the calls are signed by openssl, which is not here',
}, () => {
  for (const name of ['reportOrders', 'reportReturns', 'listRefused']) {
    const given = shownBy(name)
    const header = (key: string) =>
      given.find((one) => one.startsWith(`${key}: `))?.slice(key.length + 2) ?? ''
    const body = given.includes('-d') ? (given[given.indexOf('-d') + 1] ?? '') : ''
    const signature = signBody(
      'YOUR-POSTBACK-SECRET',
      header('X-Souk-Timestamp'),
      Buffer.from(body),
    )
    assert.equal(header('X-Souk-Signature'), signature.toString('hex'), name)
    if (name !== 'listRefused') assert.ok(JSON.parse(body), name)
  }
})

test('an example response contains its own status', () => {
  assert.equal(/&quot;status&quot;: (\d+)/.exec(rendered('createSmartLink'))?.[1], '201')
})

test('lists every successful response with its headers and content type', () => {
  const answers = rendered('followSmartLink')
  assert.match(answers, /Response 200<.*?>A page for the reader.*?, text\/html</s)
  assert.match(answers, /Response 302<.*?>On to the destination, header Location</s)
})

test('lists a field with its path, type and rules, also in lists and unions', () => {
  const schema: Schema = {
    type: 'object',
    required: ['links'],
    properties: {
      links: {
        type: 'array',
        maxItems: 5,
        items: { type: 'object', properties: { raw_url: { type: 'string', maxLength: 9 } } },
      },
      until: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
    },
  }
  assert.deepEqual(
    fieldsOf(schema).map(({ path, type, isRequired, rules }) => [path, type, isRequired, rules]),
    [
      ['links', 'list of object', true, 'at most 5 entries'],
      ['links[].raw_url', 'string', false, 'at most 9 characters'],
      ['until', 'timestamp or null', false, ''],
    ],
  )
})

test('lists the fields of every variant of a response, and marks those of one variant as optional', () => {
  const form = (properties: Record<string, Schema>): Schema => ({
    type: 'object',
    required: Object.keys(properties),
    properties,
  })
  const equal = form({ kind: { const: 'equal' }, at: { type: 'string' } })
  const different = form({ kind: { const: 'different' }, at: { type: 'string' }, field: {} })
  const schema = form({ replay: { anyOf: [equal, different] } })
  assert.deepEqual(
    fieldsOf(schema).map(({ path, type, isRequired }) => [path, type, isRequired]),
    [
      ['replay', 'object', true],
      ['replay.kind', '"equal" or "different"', true],
      ['replay.at', 'string', true],
      ['replay.field', 'any', false],
    ],
  )
})

test('a field of only one variant names that variant, and nested fields their own optionality', () => {
  const form = (title: string, properties: Record<string, Schema>): Schema => {
    return { title, type: 'object', required: Object.keys(properties), properties }
  }
  const { title: _, ...loser } = form('', { reason: { type: 'string' } })
  const losers: Schema = {
    type: 'array',
    items: { ...loser, properties: { ...loser.properties, note: {} } },
  }
  const full = form('with it', { at: { type: 'string' }, losers })
  const schema: Schema = { anyOf: [full, form('without it', { at: { type: 'string' } })] }
  assert.deepEqual(
    fieldsOf(schema).map(({ path, isRequired, rules }) => [path, isRequired, rules]),
    [
      ['at', true, ''],
      ['losers', true, 'only with it'],
      ['losers[].reason', true, ''],
      ['losers[].note', false, ''],
    ],
  )
  const answer = rendered('explainAuctionResult')
  assert.match(answer, /candidates<\/dt>\s*<dd><span[^>]*>list of object, only with its receipt</)
  assert.match(answer, /note<\/dt>\s*<dd><span[^>]*>string, only without its receipt</)
})

test('a nullable field shows the rules and description of its other type', () => {
  const line: Schema = { type: 'integer', minimum: 0, maximum: 9, description: 'Counted from 0' }
  const schema: Schema = {
    type: 'object',
    properties: {
      line: { anyOf: [line, { type: 'null' }] },
      kind: { anyOf: [{ const: 'a' }, { type: 'null' }], description: 'Why' },
    },
  }
  assert.deepEqual(
    fieldsOf(schema).map(({ type, rules, description }) => [type, rules, description]),
    [
      ['integer or null', 'from 0, to 9', 'Counted from 0'],
      ['"a" or null', '', 'Why'],
    ],
  )
})

test('a long path breaks between names, and names stay searchable', () => {
  const page = rendered('matchProduct')
  assert.ok(page.includes('data[].<wbr>product_information.<wbr>merchant_name</dt>'))
})

test('text between backticks is shown as code, without the backticks', () => {
  const page = renderOperation({
    ...{ place: { method: 'GET', path: '/x/' }, operationId: 'x', tags: [], responses: {} },
    description: 'Landed with in `cid`, or not',
  }).html
  assert.match(page, /Landed with in <code>cid<\/code>, or/)
  const pages = operations.map((one) =>
    renderOperation(one).html.replaceAll(/<pre.*?<\/pre>/gs, ''),
  )
  assert.doesNotMatch(pages.join(), /`/)
})

test('a description is text, never markup', () => {
  const text = '<script>"&'
  assert.equal(
    html`<p>${text}${[text]}${null}</p>`.html,
    '<p>&lt;script&gt;&quot;&amp;&lt;script&gt;&quot;&amp;</p>',
  )
  const operation = { operationId: 'x', summary: '<img src=x>', parameters: [], responses: {} }
  const paths = { '/x/': { get: { ...operation, tags: ['account'] } } }
  const tags = [{ name: 'account', description: '<i>' }]
  const pages = referencePages({ info: { description: '<b>' }, tags, paths })
  const markup = pages.map(({ body }) => body.html).join()
  assert.ok(
    markup.includes('&lt;img src=x&gt;') && !markup.includes('<img') && !markup.includes('<b>'),
  )
})

test('an endpoint lists the errors of its caller, its parameters and its headers', () => {
  const codesOf = (id: string): number[] =>
    errorsOf(operationOf(id)).map((name) => ERRORS[name].code)
  assert.deepEqual(
    codesOf('reportOrders'),
    [4000, 4040, 4090, 4092, 4093, 4130, 4150, 4290, 4306, 5000, 5030],
  )
  const campaign = codesOf('updateCampaign')
  for (const code of [4000, 4301, 4302, 4303, 4305, 4120])
    assert.ok(campaign.includes(code), `${code}`)
})
