import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
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

test('a draft that a killed process left goes with the next write, one under way stays', async (t) => {
  const { path, left } = await makeFolder(t)
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000)
  await writeFile(`${path}.1.part`, 'ha')
  await utimes(`${path}.1.part`, hoursAgo, hoursAgo)
  await writeFile(`${path}.2.part`, 'ha')
  await replaceText(path, 'new')
  assert.deepEqual(await left(), { text: 'new', files: ['payout.csv', 'payout.csv.2.part'] })
})

test('a link to a file stays one, and what is no file is written to', async (t) => {
  const { folder, path, left } = await makeFolder(t)
  await symlink(path, join(folder, 'link'))
  await replaceText(join(folder, 'link'), 'new')
  await replaceText('/dev/null', 'gone')
  assert.deepEqual(await left(), { text: 'new', files: ['link', 'payout.csv'] })
  assert.equal(await readFile('/dev/null', 'utf8'), '')
})
