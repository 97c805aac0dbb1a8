import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { hashPassword } from '../accounts/password.ts'
import { disableApiKey, listApiKeys, listUsers, updateUser } from '../accounts/store.ts'
import { makeIdSource } from '../platform/ids.ts'
import { loadDemo } from './load.ts'
import { demoScreen } from './screen.ts'

test("the demo's screen shows no password or key that no longer works", async (t) => {
  const database = await testDatabase(scopeOf(t))
  const dataDir = await temporaryFolder(t, 'souk-demo-')
  const ids = makeIdSource({ nodeId: 1, now: () => Date.now() })
  const deps = { database, ids, dataDir, now: () => new Date() }
  const state = await loadDemo(deps, 8081)
  const config = { baseUrl: 'http://localhost:8080', brand: 'service', dataDir }
  const shown = () => demoScreen(config, { deps, state })

  const first = await shown()
  assert.ok(first.includes(`${state.email}  ${state.password}`))
  assert.match(first, /publisher-viewer@souk\.example +viewer of \w/)
  assert.match(first, /\n +admin@souk\.example +admin of the network\n/)
  assert.equal(first.split(state.apiKey).length - 1, 2) // On its own, and in the `curl` line.

  const [user] = await listUsers(database)
  const [key] = await listApiKeys(database, { uid: null })
  assert.ok(user !== undefined && key !== undefined)
  await disableApiKey(database, { tokenId: key.token_id, uid: null })
  const change = { uid: user.uid, email: null, passwordHash: null, isAdmin: null }
  const passwordHash = await hashPassword('another one')
  for (const { uid } of await listUsers(database)) {
    await updateUser(database, { ...change, uid, passwordHash })
  }
  const second = await shown()
  assert.ok(!second.includes(state.apiKey) && !second.includes(state.password), second)
  assert.match(second, /login {8}demo@souk\.example {2}\(its password was changed\)/)
  assert.match(second, /API key {8}the demo’s was disabled; the dashboard makes another/)

  await updateUser(database, { ...change, email: 'me@souk.example' })
  assert.ok(!(await shown()).includes(state.email))
})
