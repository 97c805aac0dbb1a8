import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { makeIdSource } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { importDemoFeeds, isEmpty, loadDemo, readDemo } from './load.ts'

const PORT = 8081

test('a first start that dies while it creates the demo does not break the next one', async (t) => {
  const database = await testDatabase(scopeOf(t))
  const dataDir = await temporaryFolder(t, 'souk-demo-')
  const ids = makeIdSource({ nodeId: 1, now: () => Date.now() })
  const deps = { database, ids, dataDir, now: () => new Date() }

  // It dies while it creates its links.
  const dying = { ...ids, next: () => assert.fail('killed') }
  await assert.rejects(loadDemo({ ...deps, ids: dying }, PORT), /killed/)
  assert.ok(await isEmpty(deps))

  // It dies before its feeds; the next start has everything it needs.
  const feeds = join(dataDir, 'demo-feeds')
  await writeFile(feeds, 'no folder')
  await assert.rejects(loadDemo(deps, PORT))
  await rm(feeds)
  assert.ok(!(await isEmpty(deps)))
  const state = await readDemo(deps)
  assert.ok(state !== null)
  await importDemoFeeds(deps, state)
  const counts = await database.row(sql`
    select (select count(*)::int from smart_link) as links,
      (select count(*)::int from app_user) as users,
      exists (select from offer) as has_offers`)
  const links = Object.keys(state.links).length
  assert.deepEqual(counts, { links, users: 9, has_offers: true })
  const roles = await database.rows<{ role_line: string }>(sql`
    select concat_ws(' ', role, publisher.slug, merchant.name) as role_line
    from membership join app_user using (uid)
      left join publisher using (pub_id) left join merchant using (merch_id)
    where app_user.email <> ${state.email} order by membership_id`)
  assert.deepEqual(
    roles.map(({ role_line }) => role_line),
    [
      ...['owner hearthside', 'manager hearthside', 'viewer hearthside'],
      ...['owner Kettlework', 'manager Kettlework', 'viewer Kettlework', 'admin', 'staff'],
    ],
  )
})

test('a folder that held a demo does not mistake a real network for one', async (t) => {
  const scope = scopeOf(t)
  const dataDir = await temporaryFolder(t, 'souk-demo-')
  const ids = makeIdSource({ nodeId: 1, now: () => Date.now() })
  const depsOf = (database: Database) => {
    return { database, ids, dataDir, now: () => new Date() }
  }
  const demo = depsOf(await testDatabase(scope))
  await loadDemo(demo, PORT)
  const real = await testDatabase(scope)
  await makePublisherWorld(real)
  assert.equal(await readDemo(depsOf(real)), null)
  assert.notEqual(await readDemo(demo), null)
})
