import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import { frame, frameBytes, unframe } from './spool-frames.ts'

const anyRecords = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 })
const bytesOf = (records: readonly Uint8Array[]) => records.map((record) => Buffer.from(record))

test('framed records are read back unchanged', () => {
  fc.assert(
    fc.property(anyRecords, (records) => {
      const file = frame(records)
      assert.equal(
        file.length,
        records.reduce((sum, record) => sum + frameBytes(record), 0),
      )
      assert.deepEqual(unframe(file), { records: bytesOf(records), damagedBytes: 0, tornBytes: 0 })
    }),
  )
})

test('a file cut off anywhere yields every whole record and counts the rest as torn', () => {
  fc.assert(
    fc.property(anyRecords, fc.nat(), (records, seed) => {
      const file = frame(records)
      const length = file.length === 0 ? 0 : seed % file.length
      const found = unframe(file.subarray(0, length))
      assert.deepEqual(found.records, bytesOf(records).slice(0, found.records.length))
      const whole = found.records.reduce((sum, record) => sum + frameBytes(record), 0)
      assert.equal(found.damagedBytes, 0)
      assert.equal(found.tornBytes, length - whole)
      const next = records[found.records.length]
      assert(next === undefined || frameBytes(next) > found.tornBytes)
    }),
  )
})

test('a file that a crash extended ends in blank space', () => {
  const records = bytesOf([Buffer.from('a'), Buffer.from('b')])
  const found = unframe(Buffer.concat([frame(records), Buffer.alloc(4_096)]))
  assert.deepEqual(found, { records, damagedBytes: 0, tornBytes: 4_096 })
})

test('a changed byte costs only the record it is in', () => {
  const some = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), {
    minLength: 1,
    maxLength: 10,
  })
  fc.assert(
    fc.property(some, fc.nat(), fc.integer({ min: 1, max: 255 }), (records, seed, change) => {
      const file = frame(records)
      const at = seed % file.length
      file.writeUInt8(file.readUInt8(at) ^ change, at)
      let end = 0
      const hit = records.findIndex((record) => {
        end += frameBytes(record)
        return at < end
      })
      const found = unframe(file)
      assert.deepEqual(
        found.records,
        bytesOf(records).filter((_, index) => index !== hit),
      )
      const lost = frameBytes(records[hit] ?? new Uint8Array())
      assert.equal(found.damagedBytes + found.tornBytes, lost)
      // Only a last record whose length grew looks like an unfinished one.
      if (found.tornBytes > 0) assert.equal(hit, records.length - 1)
    }),
  )
})

test('records that contain frame bytes are read back unchanged', () => {
  const inner = frame([Buffer.from('inner')])
  const file = frame([inner, Buffer.from('outer')])
  assert.deepEqual(unframe(file).records, [inner, Buffer.from('outer')])
})

test('noise contains no records', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (noise) => {
      const { records, damagedBytes, tornBytes } = unframe(Buffer.from(noise))
      assert.equal(records.length, 0)
      assert.equal(damagedBytes + tornBytes, noise.length)
    }),
  )
})
