import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { SCHEMA_FILE, schemaText } from '../scripts/write-schema.ts'
import { testDatabase } from './support/database.ts'

test('migrations/schema.sql is the schema that the migrations create', async (t) => {
  const db = await testDatabase(t)
  const file = await readFile(SCHEMA_FILE, 'utf8').catch(() => '')
  assert.equal(file, await schemaText(db), 'run `npm run schema` and commit what it writes')
})
