import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseUrl, testDatabase } from '../../test/support/database.ts'
import { freePort } from '../../test/support/free-port.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { readConfig } from '../node/config.ts'
import { openNode } from '../node/node.ts'
import { makeLogger } from '../platform/process/log.ts'
import { startDemo } from './run-demo.ts'

test("the demo's webhooks may lead to this machine, those of a real network may not", async (t) => {
  const scope = scopeOf(t)
  const empty = await testDatabase(scope)
  const own = await testDatabase(scope)
  await makePublisherWorld(own)
  for (const [database, isAllowed] of [
    [empty, true],
    [own, false],
  ] as const) {
    const config = readConfig({
      PORT: String(await freePort()),
      SOUK_DATA: await temporaryFolder(scope, 'demo '),
      DATABASE_URL: databaseUrl(database.connection),
    })
    await using opened = new AsyncDisposableStack()
    const node = await openNode(config, { log: makeLogger({ level: 'error' }) })
    opened.defer(() => node.close())
    const demo = await startDemo(node, { createWithHistory: null })
    opened.defer(() => demo.close())
    assert.equal(demo.node.config.allowPrivateFetch, isAllowed)
  }
})
