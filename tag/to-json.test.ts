import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../test/support/fast-check.ts'
import { toJson } from './to-json.ts'

test('writes every JSON value so that it reads back the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      assert.deepEqual(JSON.parse(toJson(value)), JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('leaves out undefined, and writes null for a number without a value', () => {
  const odd = { a: undefined, b: () => 'x', c: Number.NaN, d: [null, true], e: 5n, f: Infinity }
  assert.equal(toJson(odd), '{"b":{},"c":null,"d":[null,true],"e":5,"f":null}')
  assert.equal(toJson('\ud800"\n'), '"\\ud800\\u0022\\u000a"')
})

test('calls no toJSON of a prototype, and writes nothing that a prototype holds', () => {
  const patched = [Object, Array, String, Number, Boolean, Date].map(({ prototype }) => prototype)
  const broken = () => 'patched'
  for (const prototype of patched) Object.assign(prototype, { toJSON: broken, each: broken, n: 7 })
  try {
    assert.equal(toJson({ a: ['x', 1, true, { b: [] }] }), '{"a":["x",1,true,{"b":[]}]}')
  } finally {
    for (const prototype of patched) {
      for (const name of ['toJSON', 'each', 'n']) Reflect.deleteProperty(prototype, name)
    }
  }
})
