import assert from 'node:assert/strict'
import {
  chmod,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Refusal } from './refusal.ts'
import { replaceFile, replaceText } from './whole-file.ts'

async function makeFolder(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'souk-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
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
  await replaceText('/dev/null', 'gone')
  assert.deepEqual(await left(), { text: 'new', files: ['link', 'payout.csv'] })
  assert.equal(await readFile('/dev/null', 'utf8'), '')
})
