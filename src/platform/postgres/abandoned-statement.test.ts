import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/market.ts'
import { openDatabase } from './postgres.ts'
import { sql } from './sql.ts'

test('PostgreSQL ends a statement without a time limit when its client has disconnected', async (t) => {
  const db = await testDatabase({ after: (work) => t.after(work) })
  const options = { applicationName: 'interrupted', statementTimeoutMs: 0 }
  const other = openDatabase({ connection: db.connection, ...options })
  const { client } = await other.reserve()
  const isRunning = async () =>
    (await db.row(sql`
      select from pg_stat_activity
      where application_name = 'interrupted' and datname = current_database()`)) !== null
  const cut = client.query('select pg_sleep(600)')
  assert.ok(await isRunning())
  client.connection.stream.destroy() // The kernel does the same for a process that ended.
  await assert.rejects(cut)
  await until(async () => !(await isRunning()))
})
