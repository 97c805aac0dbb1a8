import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from './test-folder.ts'

test('a run removes what one that was killed has left, and nothing that may be in use', (t) => {
  const folders = [makeTemporaryFolder()]
  t.after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  const make = () => mkdtempSync(join(dirname(folders[0] ?? ''), 'souk-tests-'))
  const [left, young] = [make(), make()]
  folders.push(left, young)
  mkdtempSync(join(left, 'cluster-'))
  utimesSync(left, new Date(0), new Date(0))
  folders.push(makeTemporaryFolder())
  assert.deepEqual(folders.map(existsSync), [true, false, true, true])
})
