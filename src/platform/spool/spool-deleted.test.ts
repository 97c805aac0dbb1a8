import assert from 'node:assert/strict'
import { glob, rm } from 'node:fs/promises'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { openSpool } from './spool.ts'

test('a deleted spool file is reported and no longer keeps the spool from being empty', async (t) => {
  const root = await temporaryFolder(t, 'spool-')
  const damage: string[] = []
  const open = () =>
    openSpool({ root, bytesMax: 1000, onDamage: (problem) => damage.push(problem) })
  const drained: string[] = []
  const write = async (records: readonly Buffer[]) => void drained.push(...records.map(String))
  const deleteFiles = async () => {
    for await (const path of glob(`${root}/*/*.spool`)) await rm(path)
  }
  const dead = await open()
  await dead.append([Buffer.from('left behind')])
  await dead.close()
  const spool = await open()
  await spool.append([Buffer.from('deleted')])
  await deleteFiles()
  await assert.rejects(spool.append([Buffer.from('refused')]), /ENOENT/)
  await spool.append([Buffer.from('kept')])
  await spool.drain({ write })
  assert.deepEqual(drained, ['kept'])
  assert.deepEqual([spool.isEmpty(), spool.hasWork(), spool.bytes()], [true, false, 0])
  assert.equal(damage.length, 2, damage.join())
  for (const problem of damage) assert.match(problem, /00000001.spool was deleted, with \d+ bytes$/)
  await spool.close()
})
