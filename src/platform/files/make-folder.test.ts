import assert from 'node:assert/strict'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { makeFolder } from './make-folder.ts'

test('folders are created with their parents, and one that cannot be is reported without hanging', async (t) => {
  const root = await temporaryFolder(t, 'folders ')
  const deep = join(root, 'a', 'b', 'c')
  await Promise.all([makeFolder(deep), makeFolder(join(root, 'a', 'x'))])
  await makeFolder(deep)
  assert.ok((await stat(deep)).isDirectory())

  const file = join(root, 'file')
  await writeFile(file, '')
  await assert.rejects(makeFolder(join(file, 'below')), { code: 'ENOTDIR' })
  if (process.platform !== 'linux') return
  for (const path of ['/proc/souk', '/proc/souk/a/b']) {
    await assert.rejects(makeFolder(path), { code: 'ENOENT' })
  }
})
