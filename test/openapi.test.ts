import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { OPENAPI_FILE, openapiText } from '../scripts/write-openapi.ts'
import { REPORT_COLUMNS } from '../src/reports/report.ts'
import { startTestApp } from './app.ts'

const JSON_TYPE = 'application/json'

test('openapi.json is the description of the routes that are served', async (t) => {
  const { http } = await startTestApp(t)
  const file = await readFile(OPENAPI_FILE, 'utf8')
  assert.equal(file, openapiText(http), 'run `npm run openapi` and commit what it writes')
})

test('the description of a creation names the header that makes a retry safe', async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
  const { parameters = [] } = paths['/api/v1/smart_links/'].post
  assert.deepEqual(
    parameters.map(({ in: place, name }: { in: string; name: string }) => `${place} ${name}`),
    ['header idempotency-key'],
  )
})

test('the description tells the rules that stand between parameters', async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
  const told = (path: string, name: string): string =>
    paths[path].get.parameters.find((one: { name: string }) => one.name === name).description
  const match = '/api/v1/product_match/clickmate/exclusive_links/'
  assert.match(told(match, 'gtin'), /^One of gtin, sku and product_url must be sent/)
  assert.match(told(match, 'article_url'), /Variant B: required/)
  assert.match(told('/api/v1/publishers/{pub_id}/reports/{report}/', 'date_to'), /at most 100 days/)
})

test('the description of the reports names every column, and which amounts may be summed', async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
  const { description } = paths['/api/v1/publishers/{pub_id}/reports/{report}/'].get
  for (const [report, columns] of Object.entries(REPORT_COLUMNS)) {
    assert.ok(description.includes(`Columns: ${columns.join(', ')}.`), report)
  }
  assert.match(description, /earnings is in cents, earnings_usd is not/)
  assert.match(description, /line_earnings and line_revenue are what may be summed/)
  const { get: ledger } = paths['/api/v1/merchants/{merch_id}/ledger/']
  assert.match(ledger.description, /Columns: entry, kind, day, at, amount_usd, /)
})

test('who may not call an endpoint, or be told of an event, can read it before', async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
  assert.match(paths['/api/v1/reversals/'].post.description, /^Only the key of an operator/)
  const { post } = paths['/api/v1/merchants/{merch_id}/webhooks/']
  const { events } = post.requestBody.content[JSON_TYPE].schema.properties
  assert.match(events.description, /; payout\.ready for publishers only$/)
})

test('whoever receives webhooks can read how they are signed, and what each tells', async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
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
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
  return Object.values<Record<string, Operation>>(paths).flatMap((one) => Object.values(one))
}

test('the description of every operation says that it may refuse and may fail', async () => {
  for (const { operationId, responses } of await readOperations()) {
    for (const status of ['4XX', '5XX']) {
      assert.deepEqual(Object.keys(responses[status]?.content ?? {}), [JSON_TYPE], operationId)
    }
  }
})

test('the description of every answer names its fields, but where columns stand elsewhere', async () => {
  const open = (schema: unknown): boolean =>
    typeof schema === 'object' &&
    schema !== null &&
    ('additionalProperties' in schema ||
      'patternProperties' in schema ||
      Object.values(schema).some(open))
  const told = (await readOperations()).filter(({ responses }) => open(responses[200]?.content))
  assert.deepEqual(
    told.map(({ operationId }) => operationId),
    ['readReport', 'readMerchantLedger'],
  )
})

test('every operation is named in camel case', async () => {
  for (const { operationId } of await readOperations())
    assert.match(operationId, /^[a-z][A-Za-z]*$/)
})

test('the description of every link that a reader clicks names the labels of the click', async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
  for (const path of ['/api/v1/redirect/', '/{auction_id}', '/link/']) {
    const names = paths[path].get.parameters.map(({ name }: { name: string }) => name)
    assert.deepEqual([names.includes('u1'), names.includes('utm_source')], [true, true], path)
  }
})

test('the description of an answer names its type, where it is a file, a page or nothing', async () => {
  const told = (await readOperations()).flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .map(([status, { content = {} }]) => [operationId, status, ...Object.keys(content)])
      .filter(([, , ...types]) => types.join() !== JSON_TYPE),
  )
  const expected = [
    ['readMerchantLedger', '200', 'application/json', 'text/csv'],
    ['readProductFeed', '200', 'text/csv'],
    ['readReport', '200', JSON_TYPE, 'text/csv'],
    ['readMyLedger', '200', 'text/csv'],
    ['readMyStatement', '200', JSON_TYPE, 'text/csv', 'text/html'],
    ['readStatement', '200', JSON_TYPE, 'text/csv', 'text/html'],
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
    ['recordPlacement', '200', 'image/gif'],
    ['followWrapper', '200', 'text/html'],
    ['followWrapper', '302'],
    ['followWrapper', '400', 'text/html'],
    ['reportCheckout', '201'],
    ['reportShopView', '201'],
  ]
  assert.deepEqual(told.toSorted(), expected.toSorted())
})
