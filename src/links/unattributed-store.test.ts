import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { sql } from '../platform/postgres/sql.ts'
import { UnattributedCounts } from './unattributed-counts.ts'
import {
  addUnattributed,
  deleteOldUnattributed,
  listUnattributed,
  listUnattributedOf,
} from './unattributed-store.ts'

const DAY = '2026-03-02'
const NOW = new Date(`${DAY}T10:00:00Z`)
const TARGET = 'shop.example'

test('shows a publisher the redirects of its pages and of its misspelt slug, and no others', async (t) => {
  const db = await testDatabase(scopeOf(t))
  const rows = [
    ['dailly', 'www.daily.example'],
    ['', 'm.daily.example'],
    ['daily&amp;exclusive=1', ''],
    ['"daily"', ''],
    ['daily-news', ''],
    ['{slug}', ''],
    ['', 'notdaily.example'],
  ] as const
  await addUnattributed(db, {
    day: DAY,
    rows: rows.map(([slug, host], at) => ({ slug, host, targetHost: TARGET, redirects: 9 - at })),
  })
  await addUnattributed(db, {
    day: '2026-01-01',
    rows: [{ slug: 'old', host: 'daily.example', targetHost: TARGET, redirects: 1 }],
  })
  const of = { slug: 'Daily', domains: ['daily.example'], now: NOW }
  const shown = await listUnattributedOf(db, of)
  assert.deepEqual(
    shown.map(({ slug, host, redirects }) => [slug, host, redirects]),
    rows.slice(0, 4).map(([slug, host], at) => [slug, host, String(9 - at)]),
  )
  assert.equal((await listUnattributed(db, NOW)).length, rows.length)
  assert.equal(await deleteOldUnattributed(db, new Date('2026-04-02T00:00:00Z')), 1)
})

test('a day holds a bounded number of names, whatever links say', async (t) => {
  const db = await testDatabase(scopeOf(t))
  const add = (from: number, many: number) =>
    addUnattributed(db, {
      day: DAY,
      rows: Array.from({ length: many }, (_, at) => ({
        ...{ slug: `s${from + at}`, host: '', targetHost: TARGET, redirects: 1 },
      })),
    })
  await add(0, 1_000)
  await add(900, 200)
  const row = await db.row<{ names: string; redirects: string }>(
    sql`select count(*) as names, sum(redirects) as redirects from unattributed_redirect`,
  )
  assert.deepEqual({ ...row }, { names: '1001', redirects: '1200' })
})

test('counts in memory reach the database at the end, those of a failed write too', async (t) => {
  const db = await testDatabase(scopeOf(t))
  let counted = 0
  const counts = new UnattributedCounts({
    ...{ db, now: () => NOW.getTime(), onError: (error) => assert.fail(String(error)) },
    onCounted: () => counted++,
  })
  for (let at = 0; at < 150; at++) counts.count({ slug: `S${at}`, host: '', targetHost: TARGET })
  await db.run(sql`alter table unattributed_redirect rename to elsewhere`)
  await assert.rejects(counts.close())
  await db.run(sql`alter table elsewhere rename to unattributed_redirect`)
  await counts.close()
  const rows = await listUnattributed(db, NOW)
  assert.equal(counted, 150)
  assert.equal(rows.length, 101)
  assert.deepEqual(
    { ...rows[0] },
    { slug: '', host: '', target_host: '', redirects: '50', last_day: DAY },
  )
  assert.ok(rows.some(({ slug }) => slug === 's7'))
})
