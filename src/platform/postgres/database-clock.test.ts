import assert from 'node:assert/strict'
import { test } from 'node:test'
import { msApart } from './database-clock.ts'
import type { Db } from './postgres.ts'

test('the difference of clocks leaves out the round trip to the database', async () => {
  for (const { asked, at, answered, apart } of [
    { asked: 1_000, at: 1_000, answered: 1_000, apart: 0 },
    { asked: 1_000, at: 8_000, answered: 9_000, apart: 0 }, // a slow answer
    { asked: 9_000, at: 1_000, answered: 9_500, apart: 8_000 },
    { asked: 1_000, at: 9_000, answered: 1_500, apart: -7_500 },
  ]) {
    const times = [asked, answered]
    const db = { row: async () => ({ at: new Date(at) }) } as unknown as Db
    assert.equal(await msApart(db, () => times.shift() ?? Number.NaN), apart)
  }
})
