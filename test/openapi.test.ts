import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { inlineRefs } from '../dashboard/docs/inline-refs.ts'
import { OPENAPI_FILE, openapiText } from '../scripts/write-openapi.ts'
import { REPORT_COLUMNS } from '../src/reports/report.ts'
import { startTestApp } from './support/app.ts'

const JSON_TYPE = 'application/json'
type Content = Readonly<Record<string, { readonly schema: object }>>

test('openapi.json describes the routes that are served', async (t) => {
  const { http } = await startTestApp(t)
  const file = await readFile(OPENAPI_FILE, 'utf8')
  assert.equal(file, openapiText(http), 'run `npm run openapi` and commit what it writes')
})

test('every response of the description compiles to a serializer', async () => {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  const operations = Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods as object).map(([method, { responses }]) => ({
      url,
      method,
      responses,
    })),
  )
  const compile = SerializerSelector()()
  let compiled = 0
  for (const { url, method, responses } of operations) {
    for (const [httpStatus, { content }] of Object.entries<{ content?: Content }>(responses)) {
      const schema = content?.[JSON_TYPE]?.schema
      if (schema === undefined) continue
      compile({ schema, url, method, httpStatus })
      compiled += 1
    }
  }
  assert.ok(compiled > operations.length, `only ${compiled} responses`)
})

test('the description of a creation names the header that makes a retry safe', async () => {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  const { parameters = [] } = paths['/api/v1/smart_links/'].post
  assert.deepEqual(
    parameters.map(({ in: place, name }: { in: string; name: string }) => `${place} ${name}`),
    ['header idempotency-key'],
  )
})

test('the description says that an import takes a file', async () => {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  const { post } = paths['/api/v1/merchants/{merch_id}/feed/imports/']
  assert.deepEqual(post.requestBody, {
    required: false,
    content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  })
})

test('the description states the rules between parameters', async () => {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  const descriptionOf = (path: string, name: string): string =>
    paths[path].get.parameters.find((one: { name: string }) => one.name === name).description
  const match = '/api/v1/product_match/clickmate/exclusive_links/'
  assert.match(descriptionOf(match, 'gtin'), /^One of gtin, sku and product_url must be sent/)
  assert.match(descriptionOf(match, 'article_url'), /Variant B: required/)
  assert.match(
    descriptionOf('/api/v1/publishers/{pub_id}/reports/{report}/', 'date_to'),
    /at most 100 days/,
  )
})

test('the description of the reports names every column, and which amounts may be summed', async () => {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  const { description } = paths['/api/v1/publishers/{pub_id}/reports/{report}/'].get
  for (const [report, columns] of Object.entries(REPORT_COLUMNS)) {
    assert.ok(description.includes(`Columns: ${columns.join(', ')}.`), report)
  }
  assert.match(description, /earnings is in cents, earnings_usd is not/)
  assert.match(description, /only line_earnings and line_revenue may be summed/)
  const { get: ledger } = paths['/api/v1/merchants/{merch_id}/ledger/']
  assert.match(ledger.description, /Columns: entry, kind, day, at, amount_usd, /)
})

test('the description says who may call an endpoint or receive an event', async () => {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  assert.match(paths['/api/v1/reversals/'].post.description, /^Only the key of an operator/)
  const { post } = paths['/api/v1/merchants/{merch_id}/webhooks/']
  const { events } = post.requestBody.content[JSON_TYPE].schema.properties
  assert.match(events.description, /; payout\.ready for publishers only$/)
})

test('the description says how webhooks are signed, and what each contains', async () => {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  const all = '/api/v1/publishers/{pub_id}/webhooks/'
  assert.match(
    paths[all].post.description,
    /X-Souk-Signature the lower-case hex of HMAC-SHA256 over/,
  )
  const { schema } = paths[`${all}{webhook_id}/deliveries/`].get.responses[200].content[JSON_TYPE]
  assert.match(
    schema.properties.data.items.properties.data.description,
    /payout\.ready: statement_id/,
  )
})

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
}

async function readOperations(): Promise<Operation[]> {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  return Object.values<Record<string, Operation>>(paths).flatMap((one) => Object.values(one))
}

test('every operation describes its 4xx and 5xx responses', async () => {
  for (const { operationId, responses } of await readOperations()) {
    for (const status of ['4XX', '5XX']) {
      assert.deepEqual(Object.keys(responses[status]?.content ?? {}), [JSON_TYPE], operationId)
    }
  }
})

test('every response names its fields, unless its columns are described elsewhere', async () => {
  const open = (schema: unknown): boolean =>
    typeof schema === 'object' &&
    schema !== null &&
    ('additionalProperties' in schema ||
      'patternProperties' in schema ||
      Object.values(schema).some(open))
  const openOnes = (await readOperations()).filter(({ responses }) => open(responses[200]?.content))
  assert.deepEqual(
    openOnes.map(({ operationId }) => operationId),
    ['readReport', 'readMerchantLedger'],
  )
})

test('every operation id is in camel case, and a code generator’s name for nothing else', async () => {
  const ids = (await readOperations()).map(({ operationId }) => operationId)
  for (const id of ids) assert.match(id, /^[a-z][A-Za-z]*$/)
  assert.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  )
})

test('schemas have names, and bodies and answers of JSON have examples', async () => {
  const api = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
  assert.ok(Object.keys(api.components.schemas).length > 50)
  const { requestBody, responses } = api.paths['/api/v1/smart_links/'].post
  const body = requestBody.content[JSON_TYPE]
  assert.equal(body.schema.$ref, '#/components/schemas/CreateSmartLinkBody')
  assert.match(body.example.article_url, /^https:/)
  const created = responses[201].content[JSON_TYPE]
  assert.match(created.schema.properties.data.items.$ref, /^#\/components\/schemas\/SmartLink/)
  assert.equal(responses['4XX'].content[JSON_TYPE].schema.$ref, '#/components/schemas/ErrorAnswer')
})

test('the description of each link for readers names the labels of the click', async () => {
  const { paths } = inlineRefs(JSON.parse(await readFile(OPENAPI_FILE, 'utf8')))
  for (const path of ['/api/v1/redirect/', '/{auction_id}', '/link/']) {
    const names = paths[path].get.parameters.map(({ name }: { name: string }) => name)
    assert.deepEqual([names.includes('u1'), names.includes('utm_source')], [true, true], path)
  }
})

test('the description of a response names its type, also of a file, a page or nothing', async () => {
  const found = (await readOperations()).flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .map(([status, { content = {} }]) => [operationId, status, ...Object.keys(content)])
      .filter(([, , ...types]) => types.join() !== JSON_TYPE),
  )
  const expected = [
    ['readMerchantLedger', '200', 'application/json', 'text/csv'],
    ['readInvoice', '200', JSON_TYPE, 'text/csv', 'text/html'],
    ['readProductFeed', '200', 'text/csv'],
    ['readReport', '200', JSON_TYPE, 'text/csv'],
    ['readStatement', '200', JSON_TYPE, 'text/csv', 'text/html'],
    ['beginOidc', '302'],
    ['finishOidc', '302'],
    ['reportPageImpression', '201'],
    ['reportLinkImpression', '201'],
    ['reportLinkViewableImpression', '201'],
    ['followRedirect', '200', 'text/html'],
    ['followRedirect', '302'],
    ['followRedirect', '404', 'text/html'],
    ['followRedirect', '503', 'text/html'],
    ['followSmartLink', '200', 'text/html'],
    ['followSmartLink', '302'],
    ['followSmartLink', '404', 'text/html'],
    ['followSmartLink', '503', 'text/html'],
    ['readTagCheckScreenshot', '200', 'image/jpeg'],
    ['recordPlacement', '200', 'image/gif'],
    ['followWrapper', '200', 'text/html'],
    ['followWrapper', '302'],
    ['followWrapper', '400', 'text/html'],
    ['reportCheckout', '201'],
    ['reportShopView', '201'],
  ]
  assert.deepEqual(found.toSorted(), expected.toSorted())
})
