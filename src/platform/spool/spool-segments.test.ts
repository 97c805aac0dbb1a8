import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { SpoolSegments } from './spool-segments.ts'

test('a record is not written to a deleted file, and the next one is stored', async (t) => {
  const folder = await temporaryFolder(t, 'spool-')
  const segments = new SpoolSegments(folder)
  const write = (record: string) => segments.write([Buffer.from(record)])
  await write('deleted')
  await rm(join(folder, '00000001.spool'))
  await assert.rejects(write('refused'), /ENOENT.*00000001.spool/)
  await write('kept')
  await segments.seal()
  const found = new SpoolSegments(folder)
  await found.load()
  assert.deepEqual(await readdir(folder), ['00000002.spool'])
  const files = await Promise.all(found.sealed().map((segment) => found.read(segment)))
  assert.deepEqual(
    files.map(({ records }) => records.map(String)),
    [['kept']],
  )
})
