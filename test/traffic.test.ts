import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconcile } from '../src/reconcile/reconcile.ts'
import { kitPath } from './support/shared-data.ts'
import { replayTraffic } from './support/traffic-replay.ts'
import { assertEarnings, assertTruth } from './support/traffic-truth.ts'

/** Three days of synthetic traffic, 27,000 actions; `bench/traffic.ts` plays a week's 320,000. */
test('a fully played recording gives its own truth, and reconciles (test data)', async (t) => {
  const folder = kitPath(t, 'traffic-sample')
  if (folder === null) return
  const { node, actions } = await replayTraffic(t, folder)
  await assertTruth(node.database, folder)
  await assertEarnings(node.database)
  const { differences, events } = await reconcile(node.database, { from: null, to: null })
  assert.deepEqual(differences, [])
  assert.ok(events > actions.length)
})
