/** `souk doctor` on a network of several nodes: missing keys, different settings, held leases. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeInstallation } from '../../test/support/doctor-installation.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import type { SealingKey } from '../node/config.ts'
import { keyFingerprints } from '../node/sealing-keys.ts'
import { type ClaimOptions, claimNode } from '../platform/postgres/node-registry.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

const serveWith = (
  db: Database,
  fields: Pick<ClaimOptions, 'host' | 'keyFingerprints' | 'settings'>,
) =>
  claimNode({
    ...{ db, pid: 1, roles: 'api,edge', knowsCountries: false, ...fields },
    ...{ onLost: () => undefined, onError: (error) => assert.fail(String(error)) },
  })

test("an edge without another edge's signing key is reported, with the fix", async (t) => {
  const { db, check } = await makeInstallation(t)
  const [first, second] = [1, 2].map((id) => ({ id, key: Buffer.alloc(32, id) }))
  assert.ok(first !== undefined && second !== undefined)
  const claimEdge = (host: string, keys: readonly SealingKey[]) =>
    serveWith(db, { host, keyFingerprints: keyFingerprints(keys) })
  const claims = [await claimEdge('old', [first]), await claimEdge('new', [second, first])]
  const { ok, detail } = await check('keys')
  assert.equal(ok, false)
  assert.match(detail, /: node 1 \(old\) that of node 2 \(new\)\. .* the same SOUK_SECRETS/)
  await claims[0]?.release({ isSpoolEmpty: true })
  assert.equal((await check('keys')).ok, true, 'a node that has ended signs nothing')

  // The right order of a key rotation: known everywhere before anybody signs with it.
  claims.push(await claimEdge('ready', [first, second]))
  assert.equal((await check('keys')).ok, true)
  await Promise.all(claims.map((claim) => claim.release({ isSpoolEmpty: true })))
})

test('nodes with settings that must be equal are named, with the values', async (t) => {
  const { scope, db, check } = await makeInstallation(t)
  const claimWith = async (host: string, settings: Record<string, string>) => {
    const claim = await serveWith(db, { host, settings })
    scope.after(() => claim.release({ isSpoolEmpty: true }))
    return claim
  }
  await claimWith('a', { BRAND: 'souk', NATS_URL: 'given' })
  await claimWith('b', { BRAND: 'souk', NATS_URL: 'given' })
  await claimWith('a command', {})
  assert.equal((await check('settings')).ok, true)
  const other = await claimWith('c', { BRAND: 'souk', NATS_URL: 'none' })
  const { ok, detail } = await check('settings')
  assert.equal(ok, false)
  assert.match(detail, /: NATS_URL: given at node 1 \(a\), node 2 \(b\); none at node 4 \(c\)\. /)
  await other.release({ isSpoolEmpty: true })
  assert.equal((await check('settings')).ok, true, 'a node that has ended is asked nothing')
})

test('a key that was lost with its node is reported while its results may be in use', async (t) => {
  const { scope, db, check } = await makeInstallation(t)
  const keys = [1, 2].map((byte) => [{ id: 1, key: Buffer.alloc(32, byte) }])
  for (const [index, host] of ['before', 'after'].entries()) {
    const claim = await serveWith(db, { host, keyFingerprints: keyFingerprints(keys[index] ?? []) })
    if (host === 'before') await claim.release({ isSpoolEmpty: true })
    else scope.after(() => claim.release({ isSpoolEmpty: true }))
  }
  const { ok, detail } = await check('keys')
  assert.equal(ok, false)
  assert.match(detail, /^node 2 \(after\) lacks the key of node 1 \(before\): .* Restore secrets\//)
  await db.run(sql`update node set started_at = started_at - interval '25 hours'`)
  assert.equal((await check('keys')).ok, true, 'a day later there is nothing to save')
})

test("a dead node's leases are reported, with what releases them", async (t) => {
  const { scope, db, check } = await makeInstallation(t)
  const { addCampaign } = await makePublisherWorld(db)
  const campaignId = await addCampaign()
  const claimEdge = async (host: string) => {
    const claim = await serveWith(db, { host })
    scope.after(() => claim.release({ isSpoolEmpty: false }))
    return claim
  }
  const claim = await claimEdge('frankfurt-3')
  await claimEdge('frankfurt-4')
  const hold = (minutesAgo: number) =>
    db.run(sql`
      insert into lease (campaign_id, day, node_id, incarnation, granted_micros,
        reserved_folded_micros, request_no, expires_at)
      values (${campaignId}, '2026-03-02', ${claim.nodeId}, ${claim.incarnation}, 5000000, 1500000,
        1, now() - make_interval(mins => ${minutesAgo}))`)
  await hold(1)
  assert.equal((await check('leases')).ok, true, 'a node that is restarting holds what it held')
  await db.run(sql`delete from lease`)
  await hold(6)
  assert.equal((await check('leases')).ok, true, 'a node that lives renews what is idle unwritten')
  await claim.release({ isSpoolEmpty: false })
  const { ok, detail } = await check('leases')
  assert.equal(ok, false)
  assert.match(
    detail,
    /hold \$3\.50 of campaign \d+ .*SOUK_DATA \(host frankfurt-3\).*disk is lost/,
  )
  await db.run(sql`update node set roles = 'command'`)
  assert.equal((await check('leases')).ok, true, 'no server misses what nobody is asked for')
  await db.run(sql`update lease set reserved_folded_micros = granted_micros`)
  assert.equal((await check('leases')).detail, 'no dead node holds a part of a budget')
  await db.run(sql`update lease set reserved_folded_micros = 0, closed_at = now()`)
  assert.equal((await check('leases')).detail, 'no dead node holds a part of a budget')
})
