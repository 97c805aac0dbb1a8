/** Two stores whose processes use the same folder for their spools. */
import assert from 'node:assert/strict'
import { glob, rm } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { openSpool } from './spool.ts'

async function makeRoot(t: TestContext) {
  const root = await temporaryFolder(t, 'spool of two stores ')
  const problems: string[] = []
  const openFor = async (store: string) => {
    const isOurs = (owner: string) => owner === store
    const onDamage = (problem: string) => void problems.push(problem)
    const spool = await openSpool({ root, bytesMax: 1_000, isOurs, onDamage })
    await spool.recordOwner(store)
    return spool
  }
  return { root, problems, openFor }
}

test("records of another store's process wait for its next process, even beside a running one", async (t) => {
  const { problems, openFor } = await makeRoot(t)
  const ours = await openFor('ours')
  const theirs = await openFor('theirs')
  await theirs.append([Buffer.from('theirs')])
  await theirs.close()

  assert(!ours.hasForeign())
  for (const _ of ['found', 'found again']) await ours.adoptAbandoned()
  assert(ours.hasForeign() && !ours.hasWork())
  assert.equal(problems.length, 1)
  assert.match(problems.join(), /holds events of another database: they stay there$/)

  const next = await openFor('theirs')
  const drained: string[] = []
  await next.drain({ write: async (records) => void drained.push(...records.map(String)) })
  assert.deepEqual(drained, ['theirs'])
  for (const spool of [ours, next]) await spool.close()
})

test("the death of another store's process is left for its own store, even with an empty spool", async (t) => {
  const { root, problems, openFor } = await makeRoot(t)
  const ours = await openFor('ours')
  const theirs = await openFor('theirs')
  await theirs.append([Buffer.from('theirs')])
  await theirs.close()
  for await (const file of glob(`${root}/*/*.spool`)) await rm(file)

  const ended: string[] = []
  const onDrained = async (owner: string) => void ended.push(owner)
  const drain = async (spool: typeof ours) =>
    spool.drain({ write: async () => assert.fail('nothing was left'), onDrained })
  await ours.adoptAbandoned()
  await drain(ours)
  assert.deepEqual([ended, problems, ours.hasForeign()], [[], [], false])
  const next = await openFor('theirs')
  await drain(next)
  assert.deepEqual(ended, ['theirs'])
  for (const spool of [ours, next]) await spool.close()
})
