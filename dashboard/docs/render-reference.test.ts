import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Compile } from 'typebox/compile'
import { html } from '../../src/platform/html.ts'
import { renderReference } from './render-reference.ts'
import { exampleOf, fieldsOf, type Schema } from './schema-fields.ts'

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> }
  readonly parameters?: readonly {
    readonly name: string
    readonly required?: boolean
    readonly schema: Schema
  }[]
}

const file = join(import.meta.dirname, '../../openapi.json')
const api = JSON.parse(readFileSync(file, 'utf8'))
const operations = Object.entries<Record<string, Operation>>(api.paths)
  .filter(([path]) => !path.startsWith('/dashboard/'))
  .flatMap(([, methods]) => Object.values(methods))

/** Examples of calls hold the required parameters. */
const isSent = ({ required }: { readonly required?: boolean }) => required === true

test('the example of every body and parameter is one that its endpoint accepts', () => {
  const samples = operations.flatMap(({ operationId, requestBody, parameters = [] }: Operation) => [
    ...Object.values(requestBody?.content ?? {}).map(({ schema }) => ({
      name: `${operationId}: body`,
      schema,
      value: exampleOf(schema),
    })),
    ...parameters.filter(isSent).map(({ name, schema }) => ({
      name: `${operationId}: ${name}`,
      schema,
      value: exampleOf(schema, name),
    })),
  ])
  assert.ok(samples.length > 20)
  for (const { name, schema, value } of samples) {
    const [fault] = Compile(schema).Errors(value)
    assert.equal(fault, undefined, `${name} ${JSON.stringify(value)}`)
  }
})

test('a field is told with its path, type and rules, in lists and unions too', () => {
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

test('what a description says is text, never markup', () => {
  const text = '<script>"&'
  assert.equal(
    html`<p>${text}${[text]}${null}</p>`.html,
    '<p>&lt;script&gt;&quot;&amp;&lt;script&gt;&quot;&amp;</p>',
  )
  const paths = {
    '/x/': { get: { operationId: 'x', summary: '<img src=x>', parameters: [], responses: {} } },
  }
  const page = renderReference({ info: { description: '<b>' }, paths }, {})
  assert.ok(page.includes('&lt;img src=x&gt;') && !page.includes('<img') && !page.includes('<b>'))
})
