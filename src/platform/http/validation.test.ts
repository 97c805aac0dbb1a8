import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { idText } from './field-types.ts'
import { knownFields } from './known-fields.ts'
import { UUID_PATTERN } from './pattern.ts'
import { compileCheck } from './validation.ts'

test('what is not good has a fault, what is good has none', () => {
  const { isGood, faults } = compileCheck(
    Type.Object({
      line: Type.Union([Type.Integer(), Type.Null()]),
      kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Null()])),
    }),
  )
  for (const good of [{ line: 1 }, { line: null, kind: null, more: 5 }, { line: 2, kind: 'a' }]) {
    assert.deepEqual([isGood(good), faults(good)], [true, []])
  }
  for (const wrong of [
    null,
    [],
    {},
    { line: 1.5 },
    { line: 1, kind: 'b' },
    { line: 'x', kind: 5 },
  ]) {
    assert.ok(!isGood(wrong) && faults(wrong).length > 0, JSON.stringify(wrong))
  }
})

test('a refusal says in words what is wanted, field by field', () => {
  const { faults: check } = compileCheck(
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

test('names the allowed values for a text where a word or null is expected', () => {
  const { faults: check } = compileCheck(
    Type.Object({ mark: Type.Union([Type.String({ maxLength: 1 }), Type.Null()]) }),
  )
  assert.deepEqual(check({ mark: 'ab' }), [
    { field: 'mark', rule: 'must not have more than 1 characters' },
  ])
  assert.deepEqual(check({ mark: null }), [])
})

test('reports a fault inside a nullable value once, at its place', () => {
  const line = Type.Object({ quantity: Type.Integer({ minimum: 1 }) })
  const { faults: check } = compileCheck(
    Type.Object({
      lines: Type.Union([Type.Array(line), Type.Null()]),
      ids: Type.Union([Type.Array(Type.String()), Type.Null()]),
      name: Type.Union([Type.String(), Type.Null()]),
    }),
  )
  const faults = check({ lines: [{ quantity: 0 }], ids: [5], name: 7 })
  assert.deepEqual(
    faults.map(({ field, rule }) => `${field} ${rule}`),
    ['lines[0].quantity must be >= 1', 'ids[0] must be string', 'name must be string'],
  )
})

test('reports no more faults of an oversized list than of the longest allowed one', () => {
  const line = Type.Object({ id: idText() })
  const { faults: check } = compileCheck(
    Type.Object({
      lines: Type.Array(line, { maxItems: 3 }),
      more: Type.Object({ lines: Type.Union([Type.Array(line, { maxItems: 2 }), Type.Null()]) }),
    }),
  )
  const wrong = { id: 'x' }
  const many = { lines: Array(9).fill(wrong), more: { lines: Array(9).fill(wrong), other: 1 } }
  assert.deepEqual(
    check(many)
      .map(({ field }) => field)
      .sort(),
    [
      ...['lines', 'lines[0].id', 'lines[1].id', 'lines[2].id', 'lines[3].id'],
      ...['more.lines', 'more.lines[0].id', 'more.lines[1].id', 'more.lines[2].id'],
    ],
  )
  const few = { lines: Array(3).fill({ id: '1' }), more: { lines: null } }
  assert.deepEqual(check(few), [])
  assert.deepEqual(check(null), [{ field: 'body', rule: 'must be object' }])
})

test('fields that a schema does not name are left out, at every depth', () => {
  const entry = Type.Object({ id: Type.String() })
  const schema = Type.Object({
    entries: Type.Array(entry),
    one: Type.Union([entry, Type.Null()]),
    words: Type.Record(Type.String(), Type.Integer()),
  })
  const sent = { id: '1', owner: 2 }
  const body = JSON.parse('{"__proto__":{"owner":2},"words":{"a":1}}')
  const found = knownFields(schema, { ...body, owner: 2, entries: [sent], one: sent })
  assert.deepEqual(found, { entries: [{ id: '1' }], one: { id: '1' }, words: { a: 1 } })
})

test('cleans no more of an oversized list than shows that it is too long', () => {
  const entry = Type.Object({ id: Type.String() })
  const lines = Type.Union([Type.Array(entry, { maxItems: 2 }), Type.Null()])
  const schema = Type.Object({ lines, more: Type.Object({ lines }) })
  const many = Array(9).fill({ id: 'x', owner: 2 })
  const kept = Array(3).fill({ id: 'x' })
  const found = knownFields(schema, { lines: many, more: { lines: many } })
  assert.deepEqual(found, { lines: kept, more: { lines: kept } })
})
