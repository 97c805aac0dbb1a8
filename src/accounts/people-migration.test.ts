/** The migration that brought roles (0210), with the data of an installation from before it. */
import assert from 'node:assert/strict'
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { ROOT } from '../../test/support/source-files.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import { sql } from '../platform/postgres/sql.ts'
import { hashApiKey, makeApiKey } from './api-key.ts'
import { permissionsIn } from './caller.ts'
import { NETWORK, type Organization, PERMISSIONS, rightsOf } from './permission.ts'
import { holderOf, makeKeyGuard } from './require-key.ts'

const MIGRATIONS = join(ROOT, 'migrations')
const FIRST_WITH_ROLES = '0210'

test('users own what they had, admins lead the network, and old keys keep their rights', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await db.run(sql`drop schema public cascade`)
  await db.run(sql`create schema public`)
  const before = await temporaryFolder(scope, 'migrations ')
  const files = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}_/.test(name))
  for (const name of files.filter((name) => name < FIRST_WITH_ROLES)) {
    await copyFile(join(MIGRATIONS, name), join(before, name))
  }
  await migrate(db.connection, before)
  const keys = Array.from({ length: 3 }, (_, at) => makeApiKey(Buffer.alloc(32, at + 1)))
  await db.run(sql`
    insert into app_user (email, password_hash, is_admin)
    values ('ann@pub.example', '', false), ('shop@x.example', '', false), ('op@x.example', '', true)`)
  await db.run(sql`
    insert into publisher (uid, name, slug) values (1, 'One', 'one'), (1, 'Two', 'two')`)
  await db.run(sql`
    insert into merchant (uid, name, postback_secret)
    values (2, 'Shop', 'secret'), (null, 'Nobody’s', 'secret')`)
  await db.run(sql`
    insert into api_key (uid, description, key_hash)
    select row_number() over (order by at), 'old', hash
    from unnest(${keys.map(hashApiKey)}::bytea[]) with ordinality as key (hash, at)`)

  await migrate(db.connection, MIGRATIONS)

  const memberships = await db.rows<{ told: string }>(sql`
    select concat_ws(' ', uid, role, 'pub ' || pub_id, 'merch ' || merch_id) as told
    from membership order by membership_id`)
  assert.deepEqual(
    memberships.map(({ told }) => told),
    ['1 owner pub 1', '1 owner pub 2', '2 owner merch 1', '3 admin'],
  )
  const guard = makeKeyGuard({
    ...{ db, limits: null, now: () => new Date() },
    ...{ brandWords: ['service'], baseUrl: 'http://127.0.0.1' },
  })
  const rights = async (key: string, organization: Organization) => {
    const headers = { authorization: `SERVICE-API-KEY ${key}` }
    const request: Parameters<typeof guard.require>[0] = { method: 'GET', headers }
    await guard.require(request)
    return permissionsIn(holderOf(request), organization)
  }
  const [ann = '', shop = '', operator = ''] = keys
  const publisher: Organization = { kind: 'publisher', id: 2 }
  const merchant: Organization = { kind: 'merchant', id: 1 }
  assert.deepEqual(await rights(ann, publisher), rightsOf('owner'))
  assert.equal(await rights(ann, merchant), null)
  assert.equal(await rights(ann, NETWORK), null)
  assert.deepEqual(await rights(shop, merchant), rightsOf('owner'))
  assert.equal(await rights(shop, { kind: 'merchant', id: 2 }), null)
  assert.deepEqual(await rights(operator, NETWORK), new Set(PERMISSIONS))
  assert.deepEqual(await rights(operator, publisher), new Set(PERMISSIONS))
})
