import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../platform/postgres/sql.ts'
import { deletePastAudit, writeAudit } from './audit-store.ts'
import { SHELL } from './caller.ts'
import { NETWORK } from './permission.ts'

const db = await testDatabase()
const context = { caller: SHELL, organization: NETWORK, requestId: 'r1' }
const entries = () => db.rows<{ target: string }>(sql`select target from audit_entry order by 1`)

test('the database refuses to change the audit log, and deletes only old entries', async () => {
  await writeAudit(db, context, { action: 'rate.set', target: 'rate:EUR', after: { rate: 1 } })
  for (const change of [
    sql`update audit_entry set target = 'rate:USD'`,
    sql`update audit_entry set at = at - interval '2 years'`,
    sql`delete from audit_entry`,
    sql`truncate audit_entry`,
  ]) {
    await assert.rejects(db.run(change), /append-only/)
  }
  await db.run(sql`
    insert into audit_entry (at, through, action, target)
    values (now() - interval '401 days', 'cli', 'rate.set', 'rate:old')`)
  await deletePastAudit(db)
  assert.deepEqual(await entries(), [{ target: 'rate:EUR' }])
})

test('an entry goes back with its change', async () => {
  const failed = db.transaction(async (tx) => {
    await writeAudit(tx, context, { action: 'rate.set', target: 'rate:GBP' })
    throw new Error('the change failed')
  })
  await assert.rejects(failed, /the change failed/)
  assert.deepEqual(await entries(), [{ target: 'rate:EUR' }])
})
