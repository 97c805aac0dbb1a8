import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { TIMESTAMP_RULE } from '../time/timestamp.ts'
import { rawUrl, timestamp, URL_SIZE_RULE, WEB_URL_RULE, webUrl } from './field-types.ts'
import { compileCheck } from './validation.ts'

const { faults: check } = compileCheck(
  Type.Object({ url: webUrl(), raw: rawUrl(), at: Type.Optional(timestamp()) }),
)
const GOOD = { url: 'https://shop.example/', raw: 'anything', at: '2026-03-01' }
const WIDE = `https://shop.example/${'日'.repeat(700)}`

test('one answer lists the faults of all fields, each with its rule', () => {
  assert.deepEqual(check(GOOD), [])
  assert.deepEqual(check({ url: '/p', raw: WIDE, at: 'today' }), [
    { field: 'url', rule: WEB_URL_RULE },
    { field: 'raw', rule: URL_SIZE_RULE },
    { field: 'at', rule: TIMESTAMP_RULE },
  ])
  assert.deepEqual(check({ ...GOOD, url: WIDE }), [{ field: 'url', rule: URL_SIZE_RULE }])
})

test('a value of the wrong type has only the fault of its type', () => {
  for (const value of [5, null, true, [], {}]) {
    const faults = check({ url: value, raw: value, at: value })
    assert.deepEqual(
      faults.map(({ field, rule }) => `${field}: ${rule}`),
      ['url: must be string', 'raw: must be string', 'at: must be string'],
    )
  }
})
