import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { DAY_MS } from '../time/timestamp.ts'
import {
  claimNode,
  doesEdgeKnowCountries,
  listKeyGaps,
  listLostKeys,
  type NodeClaim,
  readSpoolOwner,
  recordSpoolDrained,
  spoolOwner,
} from './node-registry.ts'
import type { Db } from './postgres.ts'
import { sql } from './sql.ts'

const fail = (error: unknown) => assert.fail(String(error))

function claim(db: Db, onLost: () => void = () => fail('lost')): Promise<NodeClaim> {
  return claimNode({
    db,
    host: 'here',
    pid: 1,
    roles: 'edge',
    knowsCountries: false,
    onLost,
    onError: fail,
  })
}

async function nodeRow(db: Db, nodeId: number) {
  return db.row<{ incarnation: string; is_spool_empty: boolean; is_dead: boolean }>(sql`
    select incarnation, is_spool_empty, heartbeat_at < now() - interval '1 minute' as is_dead
    from node where node_id = ${nodeId}`)
}

/** Every number but one belongs to a live node. */
async function occupyAllBut(db: Db, free: number): Promise<void> {
  await db.run(sql`
    insert into node (node_id, host, pid, roles, is_spool_empty)
    select number, 'elsewhere', 1, 'edge', false from generate_series(1, 1023) as number
    where number <> ${free} on conflict do nothing`)
}

async function silence(db: Db, nodeId: number): Promise<void> {
  await db.run(sql`
    update node set heartbeat_at = now() - interval '61 seconds' where node_id = ${nodeId}`)
}

test('processes that start together get different numbers', async (t) => {
  const db = await testDatabase(t)
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim(db)))
  assert.equal(new Set(claims.map(({ nodeId }) => nodeId)).size, 8)
  for (const { nodeId } of claims) assert(nodeId >= 1 && nodeId <= 1023)
  await Promise.all(claims.map((node) => node.release({ isSpoolEmpty: true })))
})

test('a holder that a restored database has forgotten is not mistaken for the new one', async (t) => {
  const db = await testDatabase(t)
  const forgotten = await claim(db)
  await forgotten.release({ isSpoolEmpty: false })
  await db.run(sql`delete from node`)
  const first = await claim(db)
  assert.equal(first.nodeId, forgotten.nodeId)
  assert.notEqual(first.incarnation, forgotten.incarnation)
  await first.release({ isSpoolEmpty: true })
})

test('a released number is reused only after all unused ones', async (t) => {
  const db = await testDatabase(t)
  const first = await claim(db)
  await first.release({ isSpoolEmpty: true })
  const second = await claim(db)
  assert.notEqual(second.nodeId, first.nodeId)

  await occupyAllBut(db, first.nodeId)
  const third = await claim(db)
  assert.equal(third.nodeId, first.nodeId)
  assert(BigInt(third.incarnation) > BigInt(first.incarnation))
  for (const node of [second, third]) await node.release({ isSpoolEmpty: true })
})

test("a new holder's incarnation is later than earlier ones, even if the clock was set back", async (t) => {
  const db = await testDatabase(t)
  const first = await claim(db)
  await first.release({ isSpoolEmpty: true })
  await occupyAllBut(db, first.nodeId)
  const ahead = BigInt(first.incarnation) + 3_600_000n // Taken by a clock that is an hour ahead.
  await db.run(sql`update node set incarnation = ${ahead} where node_id = ${first.nodeId}`)
  const next = await claim(db)
  assert.deepEqual([next.nodeId, next.incarnation], [first.nodeId, String(ahead + 1n)])
  await next.release({ isSpoolEmpty: true })
})

test('the edge that started last says whether countries are known', async (t) => {
  const db = await testDatabase(t)
  const start = (nodeId: number, roles: string, knows: boolean) =>
    db.run(sql`
      insert into node (node_id, host, pid, roles, knows_countries, is_spool_empty, started_at)
      values (${nodeId}, 'here', 1, ${roles}, ${knows}, true, to_timestamp(${nodeId}))`)
  assert.equal(await doesEdgeKnowCountries(db), false)
  await start(1, 'api,edge', false)
  await start(2, 'edge', true)
  await start(3, 'api,worker', false)
  assert.equal(await doesEdgeKnowCountries(db), true)
  await start(4, 'edge', false)
  assert.equal(await doesEdgeKnowCountries(db), false)
})

test('a node that is silent for a minute is taken over, one with heartbeats never is', async (t) => {
  const db = await testDatabase(t)
  await occupyAllBut(db, 0)
  const refusal = { name: 'Refusal', message: /^all 1023 node numbers are in use/ }
  await assert.rejects(claim(db), refusal)
  await silence(db, 77)
  const node = await claim(db)
  assert.equal(node.nodeId, 77)
  await node.release({ isSpoolEmpty: true })
})

test('a dead node with a drained spool is taken over before one with an undrained spool', async (t) => {
  const db = await testDatabase(t)
  await occupyAllBut(db, 0)
  await silence(db, 5)
  await silence(db, 9)
  await recordSpoolDrained(db, { nodeId: 9, incarnation: '1' })
  const node = await claim(db)
  assert.equal(node.nodeId, 9)
  await node.release({ isSpoolEmpty: true })
})

test('a node learns at its next heartbeat that its number was taken over', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const db = await testDatabase(t)
  const { promise: lost, resolve } = Promise.withResolvers<void>()
  const first = await claim(db, resolve)
  await occupyAllBut(db, first.nodeId)
  await silence(db, first.nodeId)
  const second = await claim(db)
  assert.equal(second.nodeId, first.nodeId)
  assert(first.isHeld())

  t.mock.timers.tick(5_000)
  await lost
  assert(!first.isHeld())
  assert(second.isHeld())
  // Later calls of the former holder do not affect the new one.
  await first.release({ isSpoolEmpty: true })
  assert.deepEqual(await nodeRow(db, second.nodeId), {
    incarnation: second.incarnation,
    is_spool_empty: false,
    is_dead: false,
  })
  await second.release({ isSpoolEmpty: true })
})

test('heartbeats keep a node alive', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const db = await testDatabase(t)
  const node = await claim(db)
  await silence(db, node.nodeId)
  t.mock.timers.tick(5_000)
  await untilAlive(t, db, node.nodeId)
  await node.release({ isSpoolEmpty: true })
})

test('hanging heartbeats leave connections for other queries', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const db = await testDatabase(t)
  const silent = Promise.withResolvers<number>()
  let beats = 0
  const run: Db['run'] = (query) => {
    if (!query.text.includes('set heartbeat_at = now()')) return db.run(query)
    beats += 1
    return silent.promise
  }
  const node = await claim({ ...db, run })
  t.mock.timers.tick(60_000)
  assert.equal(beats, 2)
  silent.resolve(1)
  await node.release({ isSpoolEmpty: true })
})

async function untilAlive(t: TestContext, db: Db, nodeId: number): Promise<void> {
  while ((await nodeRow(db, nodeId))?.is_dead) t.signal.throwIfAborted()
}

test('a running node never counts as having an empty spool, and a released one says so itself', async (t) => {
  const db = await testDatabase(t)
  const [clean, unclean] = [await claim(db), await claim(db)]
  assert.equal((await nodeRow(db, clean.nodeId))?.is_spool_empty, false)
  await clean.release({ isSpoolEmpty: true })
  await unclean.release({ isSpoolEmpty: false })
  const states = await Promise.all([clean, unclean].map(({ nodeId }) => nodeRow(db, nodeId)))
  assert.deepEqual(
    states.map((row) => [row?.is_spool_empty, row?.is_dead]),
    [
      [true, true],
      [false, true],
    ],
  )

  const owner = readSpoolOwner(spoolOwner(unclean, randomUUID()))
  assert.ok(owner !== null)
  await recordSpoolDrained(db, owner)
  assert.equal((await nodeRow(db, unclean.nodeId))?.is_spool_empty, true)
})

test("draining an earlier holder's spool says nothing about the present holder", async (t) => {
  const db = await testDatabase(t)
  await occupyAllBut(db, 3)
  // The earlier holder may learn it at a heartbeat.
  const earlier = await claim(db, () => undefined)
  await silence(db, 3)
  const present = await claim(db)
  await recordSpoolDrained(db, earlier)
  assert.equal(readSpoolOwner(''), null)
  assert.equal((await nodeRow(db, 3))?.is_spool_empty, false)
  for (const node of [earlier, present]) await node.release({ isSpoolEmpty: true })
})

test('a key counts as lost with its last signer, but not a day after another key took over', async (t) => {
  const db = await testDatabase(t)
  const edge = async (nodeId: number, hoursAgo: number, marks: readonly string[]) => {
    await db.run(sql`update node set heartbeat_at = '-infinity'`)
    await db.run(sql`
      insert into node (node_id, host, pid, roles, is_spool_empty, key_fingerprints, started_at)
      values (${nodeId}, 'here', 1, 'edge', true, ${marks}::text[],
        now() - make_interval(hours => ${hoursAgo}))`)
  }
  const lost = async () => (await listLostKeys(db, DAY_MS)).map(({ signer }) => signer)
  await edge(1, 900, ['1:a'])
  assert.deepEqual(await lost(), [])
  // The documented order of a key rotation.
  await edge(2, 90, ['1:a', '2:b'])
  await edge(3, 60, ['2:b', '1:a'])
  await edge(4, 40, ['2:b'])
  assert.deepEqual(await lost(), [])
  // A new volume, and a second start on it.
  await edge(5, 2, ['1:c'])
  assert.deepEqual(await lost(), ['node 4 (here)'])
  await edge(6, 1, ['1:c'])
  assert.deepEqual(await lost(), ['node 4 (here)'])
})

test('a node that redirects nobody lacks no key', async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`
    insert into node (node_id, host, pid, roles, is_spool_empty, key_fingerprints) values
      (1, 'here', 1, 'api,edge', true, '{1:a}'), (2, 'here', 1, 'api,worker', true, '{2:b}')`)
  assert.deepEqual(await listKeyGaps(db), [])
  await db.run(sql`update node set roles = 'edge,worker' where node_id = 2`)
  assert.equal((await listKeyGaps(db)).length, 2)
})
