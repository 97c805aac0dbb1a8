/** Two stores whose processes are told the same folder for their spools. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { openSpool } from './spool.ts'

test('what a process of another store left stays for its next one, also beside one that runs', async (t) => {
  const root = await temporaryFolder(t, 'spool of two stores ')
  const told: string[] = []
  const openFor = async (store: string) => {
    const isOurs = (owner: string) => owner === store
    const onDamage = (problem: string) => void told.push(problem)
    const spool = await openSpool({ root, bytesMax: 1_000, isOurs, onDamage })
    await spool.recordOwner(store)
    return spool
  }
  const ours = await openFor('ours')
  const theirs = await openFor('theirs')
  await theirs.append([Buffer.from('theirs')])
  await theirs.close()

  assert(!ours.hasForeign())
  for (const _ of ['found', 'found again']) await ours.adoptAbandoned()
  assert(ours.hasForeign() && !ours.hasWork())
  assert.equal(told.length, 1)
  assert.match(told.join(), /holds events of another database: they stay there$/)

  const next = await openFor('theirs')
  const drained: string[] = []
  await next.drain({ write: async (records) => void drained.push(...records.map(String)) })
  assert.deepEqual(drained, ['theirs'])
  for (const spool of [ours, next]) await spool.close()
})
