import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { shareFileLock, takeFileLock } from './file-lock.ts'

test('many processes can share a lock, and only the last one can take it exclusively', async (t) => {
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

test('an exclusive lock has one holder and ends with its process, even if killed', async (t) => {
  const path = join(await temporaryFolder(t, 'souk-lock-'), 'lock')
  const lock = takeFileLock(path)
  assert(lock)
  assert.equal(takeFileLock(path), null)
  lock.release()

  const module = new URL('./file-lock.ts', import.meta.url)
  const code = `
    import { takeFileLock } from '${module}'
    process.stdout.write(takeFileLock(process.argv[1]) === null ? 'refused' : 'taken')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, path])
  assert.equal(String(await once(child.stdout, 'data')), 'taken')
  assert.equal(takeFileLock(path), null)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const again = takeFileLock(path)
  assert(again)
  again.release()
})
