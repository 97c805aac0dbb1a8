import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { shareFileLock, takeFileLock } from './file-lock.ts'

test('a lock that is shared can be shared with more, and had alone only by the last', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'souk-lock-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'users')

  const [first, second] = [shareFileLock(path), shareFileLock(path)]
  assert.ok(first !== null && second !== null)
  assert.equal(takeFileLock(path), null)
  first.release()
  assert.equal(takeFileLock(path), null)
  second.release()

  const alone = takeFileLock(path)
  assert.ok(alone !== null)
  assert.equal(shareFileLock(path), null)
  alone.release()
  shareFileLock(path)?.release()
})
