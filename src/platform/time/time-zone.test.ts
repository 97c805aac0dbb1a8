import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone } from './time-zone.ts'

test('a time zone is known by its IANA name only', () => {
  const names = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu', 'Etc/GMT+5']
  for (const name of names) assert.ok(isTimeZone(name), name)
  for (const name of ['', '+05:30', 'Mars/Base', 'Europe Berlin', "UTC'", 'x'.repeat(65)]) {
    assert.ok(!isTimeZone(name), name)
  }
})
