import assert from 'node:assert/strict'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { fileFault } from './file-fault.ts'

test('a file error names its option and the reason', async (t) => {
  const folder = await temporaryFolder({ after: (end) => t.after(end) }, 'souk-fault-')
  const none = join(folder, 'none')
  for (const [work, options, fault] of [
    [
      () => stat(none),
      { merchant: 1, file: none },
      `file: there is no such file or folder: "${none}"`,
    ],
    [() => readFile(folder), { file: folder }, 'file: is a folder'],
    [() => mkdir(join(none, 'b')), { out: join(none, 'b', 'c') }, 'out: there is no such file'],
    [() => stat(join(none, 'b')), { out: none }, 'out: there is no such file'],
    [() => stat(none), { file: 'other' }, `there is no such file or folder: "${none}"`],
  ] as const) {
    const error = await work().then(
      () => null,
      (reason: unknown) => reason,
    )
    const printed = fileFault(error, options)
    assert.ok(printed?.startsWith(fault), String(printed))
  }
})

test('an error that is not about the file is not handled here', () => {
  assert.equal(fileFault(new Error('broken'), { file: 'a' }), null)
})
