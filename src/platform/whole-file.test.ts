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
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { Refusal } from './refusal.ts'
import { replaceFile, replaceText } from './whole-file.ts'

async function makeFolder(t: TestContext) {
  const folder = await temporaryFolder(t, 'souk-test-')
  const path = join(folder, 'payout.csv')
  await writeFile(path, 'old')
  const left = async () => ({ text: await readFile(path, 'utf8'), files: await readdir(folder) })
  return { folder, path, left }
}

test('a file that cannot be written whole leaves the old one, and the refusal names it', async (t) => {
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

test('a draft that a killed process left goes with the next write, no other file does', async (t) => {
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

test('a file that is replaced stays closed to whom it was closed to, its draft as well', async (t) => {
  const { path } = await makeFolder(t)
  const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8)
  // One that nobody may write to is replaced as well: its draft may be written to.
  for (const mode of [0o640, 0o400]) {
    await chmod(path, mode)
    await replaceFile(path, async (draft) => {
      assert.equal(await modeOf(draft), '600')
      await writeFile(draft, 'new')
    })
    assert.equal(await modeOf(path), mode.toString(8))
  }
})

test('a link to a file stays one, and what is no file is written to', async (t) => {
  const { folder, path, left } = await makeFolder(t)
  await symlink(path, join(folder, 'link'))
  await replaceText(join(folder, 'link'), 'new')
  assert.deepEqual(await left(), { text: 'new', files: ['link', 'payout.csv'] })
  // A pipe of its own: a machine's /dev/null may be a file that somebody left there.
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const reader = await open(pipe, constants.O_RDWR)
  t.after(() => reader.close())
  await replaceText(pipe, 'sent')
  assert.ok((await stat(pipe)).isFIFO())
  assert.equal((await reader.read({ buffer: Buffer.alloc(9) })).bytesRead, 'sent'.length)
})

test('what cannot be looked at is not replaced: it may be no file', async (t) => {
  const { path, left } = await makeFolder(t)
  await assert.rejects(replaceText(join(path, 'below'), 'new'), /^Refusal: .*not written: ENOTDIR/)
  const loop = join(path, '..', 'loop')
  await symlink('loop', loop)
  await assert.rejects(replaceText(loop, 'new'), /^Refusal: .*loop was not written: ELOOP/)
  assert.deepEqual(await left(), { text: 'old', files: ['loop', 'payout.csv'] })
})
