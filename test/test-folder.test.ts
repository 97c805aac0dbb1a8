import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from './support/test-folder.ts'

test('a run deletes folders of killed runs, and nothing that is in use', (t) => {
  const own = makeTemporaryFolder()
  const { pid: ended } = spawnSync('true')
  const make = (owner: number) => mkdtempSync(join(dirname(own), `souk-tests-${owner}-`))
  const [left, used] = [make(ended), make(process.ppid)]
  mkdtempSync(join(left, 'cluster-'))
  const folders = [own, left, used, makeTemporaryFolder()]
  t.after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  assert.deepEqual(folders.map(existsSync), [true, false, true, true])
})
