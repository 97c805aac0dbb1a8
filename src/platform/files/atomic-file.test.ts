import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmod,
  constants,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { Refusal } from '../errors/refusal.ts'
import { replaceFile, replaceText } from './atomic-file.ts'

async function makeFolder(t: TestContext) {
  const folder = await temporaryFolder(t, 'souk-test-')
  const path = join(folder, 'payout.csv')
  await writeFile(path, 'old')
  const left = async () => ({ text: await readFile(path, 'utf8'), files: await readdir(folder) })
  return { folder, path, left }
}

test('a failed write leaves the old file, and the error names it', async (t) => {
  const { path, left } = await makeFolder(t)
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    syscall: 'write',
  })
  const work = replaceFile(path, async (draft) => {
    await writeFile(draft, 'ha')
    throw full
  })
  await assert.rejects(work, new Refusal(`${path} was not written: ${full.message}`))
  assert.deepEqual(await left(), { text: 'old', files: ['payout.csv'] })
})

test('the next write deletes a draft of a killed process and no other file', async (t) => {
  const { path, left } = await makeFolder(t)
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000)
  await writeFile(`${path}.1.part`, 'ha')
  await utimes(`${path}.1.part`, hoursAgo, hoursAgo)
  await writeFile(`${path}.2.part`, 'ha')
  await writeFile(`${path}.first.part`, 'somebody’s own')
  await utimes(`${path}.first.part`, hoursAgo, hoursAgo)
  await replaceText(path, 'new')
  const files = ['payout.csv', 'payout.csv.2.part', 'payout.csv.first.part']
  assert.deepEqual(await left(), { text: 'new', files })
})

test("a replaced file and its draft keep the old file's permissions", async (t) => {
  const { path } = await makeFolder(t)
  const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8)
  // A read-only file is replaced as well: its draft is writable.
  for (const mode of [0o640, 0o400]) {
    await chmod(path, mode)
    await replaceFile(path, async (draft) => {
      assert.equal(await modeOf(draft), '600')
      await writeFile(draft, 'new')
    })
    assert.equal(await modeOf(path), mode.toString(8))
  }
})

test('a link to a file stays a link, and a device or pipe is written to directly', async (t) => {
  const { folder, path, left } = await makeFolder(t)
  await symlink(path, join(folder, 'link'))
  await replaceText(join(folder, 'link'), 'new')
  assert.deepEqual(await left(), { text: 'new', files: ['link', 'payout.csv'] })
  // A private pipe: on some machines /dev/null is a regular file that somebody created.
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const reader = await open(pipe, constants.O_RDWR)
  t.after(() => reader.close())
  await replaceText(pipe, 'sent')
  assert.ok((await stat(pipe)).isFIFO())
  assert.equal((await reader.read({ buffer: Buffer.alloc(9) })).bytesRead, 'sent'.length)
})

test('a path that cannot be inspected is not replaced, because it may be a device', async (t) => {
  const { path, left } = await makeFolder(t)
  await assert.rejects(replaceText(join(path, 'below'), 'new'), /^Refusal: .*not written: ENOTDIR/)
  const loop = join(path, '..', 'loop')
  await symlink('loop', loop)
  await assert.rejects(replaceText(loop, 'new'), /^Refusal: .*loop was not written: ELOOP/)
  assert.deepEqual(await left(), { text: 'old', files: ['loop', 'payout.csv'] })
})
