import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { shareFileLock, takeFileLock } from './file-lock.ts'

test('a lock that is shared can be shared with more, and had alone only by the last', async (t) => {
  const folder = await temporaryFolder(t, 'souk-lock-')
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
