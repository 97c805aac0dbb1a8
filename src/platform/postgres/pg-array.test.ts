import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import fc from '../../../test/support/fast-check.ts'
import { arrayLiteral } from './pg-array.ts'
import { sql } from './sql.ts'

test("arrays are written in PostgreSQL's text form", () => {
  assert.equal(arrayLiteral([]), '{}')
  assert.equal(arrayLiteral([1, -2.5, 3n, true, null, undefined]), '{1,-2.5,3,true,null,null}')
  assert.equal(arrayLiteral(['a', 'null', '', 'say "x\\y"']), '{"a","null","","say \\"x\\\\y\\""}')
  assert.equal(arrayLiteral([Buffer.from([0, 255])]), '{"\\\\x00ff"}')
  assert.equal(arrayLiteral([new Date(0)]), '{"1970-01-01T00:00:00.000Z"}')
  assert.equal(arrayLiteral([[1], [2]]), '{{1},{2}}')
  assert.equal(arrayLiteral([{ a: 'b' }]), '{"{\\"a\\":\\"b\\"}"}')
})

test('an array survives a round trip through the database', async (t) => {
  const db = await testDatabase(t)
  const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''))
  const row = fc.record({
    text: fc.option(text.map((value) => value.toWellFormed())),
    number: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    flag: fc.option(fc.boolean()),
    bytes: fc.option(fc.uint8Array({ maxLength: 20 }).map((value) => Buffer.from(value))),
    at: fc.option(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
      const back = await db.rows(sql`
        select * from unnest(
          ${rows.map((one) => one.text)}::text[],
          ${rows.map((one) => one.number)}::float8[],
          ${rows.map((one) => one.flag)}::boolean[],
          ${rows.map((one) => one.bytes)}::bytea[],
          ${rows.map((one) => one.at)}::timestamptz[]
        ) as given (text, number, flag, bytes, at)`)
      assert.deepEqual(
        back.map((one) => ({ ...(one as object) })),
        rows.map((one) => ({ ...one, number: one.number === null ? null : one.number + 0 })),
      )
    }),
    { numRuns: 50 },
  )
})
