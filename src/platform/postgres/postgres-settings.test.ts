import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresSettings } from './postgres-settings.ts'

const GB = 1024 ** 3

test('the cache is a sixteenth of the memory, between 128 MB and 1 GB', () => {
  const cache = (memoryBytes: number) =>
    postgresSettings({ memoryBytes, platform: 'linux', hasSharedMemory: true }).shared_buffers
  assert.equal(cache(GB), '128MB')
  assert.equal(cache(4 * GB), '256MB')
  assert.equal(cache(256 * GB), '1024MB')
})

test('every commit is on disk when it is acknowledged, on machines of any size', () => {
  for (const memoryBytes of [GB / 2, 8 * GB, 512 * GB]) {
    const settings = postgresSettings({ memoryBytes, platform: 'darwin', hasSharedMemory: true })
    const { fsync, synchronous_commit, full_page_writes } = settings
    assert.deepEqual([fsync, synchronous_commit, full_page_writes], ['on', 'on', 'on'])
  }
})
