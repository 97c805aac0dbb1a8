import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { idText } from './field-types.ts'
import { UUID_PATTERN } from './pattern.ts'
import { compileCheck } from './validation.ts'

test('a refusal says in words what is wanted, field by field', () => {
  const check = compileCheck(
    Type.Object({
      kind: Type.Literal('publisher'),
      consent: Type.Union([Type.Literal('full'), Type.Literal('contextual')]),
      user: Type.Object({ uuid: Type.String({ pattern: UUID_PATTERN }) }),
      events: Type.Array(Type.Object({ id: idText() })),
      slot: Type.String({ pattern: '^[ab]$' }),
      name: Type.String(),
    }),
  )
  const value = {
    kind: 'merchant',
    consent: 'some',
    user: { uuid: 'x' },
    events: [{ id: '9223372036854775807' }, { id: 'x' }, { id: '9223372036854775808' }],
    slot: 'c',
  }
  const rules = check(value).map(({ field, rule }) => `${field} ${rule}`)
  assert.deepEqual(rules.sort(), [
    'consent must be "full" or "contextual"',
    'events[1].id must be a positive 64-bit integer',
    'events[2].id must be a positive 64-bit integer',
    'kind must be "publisher"',
    'name is required',
    'slot must match ^[ab]$',
    'user.uuid must be a UUID',
  ])
})

test('text where a word or null may stand is told what it may be', () => {
  const check = compileCheck(
    Type.Object({ mark: Type.Union([Type.String({ maxLength: 1 }), Type.Null()]) }),
  )
  assert.deepEqual(check({ mark: 'ab' }), [
    { field: 'mark', rule: 'must not have more than 1 characters' },
  ])
  assert.deepEqual(check({ mark: null }), [])
})
