/** Two nodes and a budget of ten clicks, step by step: how lease-store.ts works. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../platform/postgres/sql.ts'
import { openAccounts } from './budget-account.ts'
import { requestLeases } from './lease-store.ts'

/**
 * A node reports its total spending of the lease, the amounts it holds and wants in total, and the
 * needs of waiting clicks. The answer gives the size of its lease, its share of unspent money, the
 * unleased rest, and whether to return the excess. All in clicks, none of it a difference: lost or
 * repeated messages do no harm.
 */
const STEPS = `
  node  spent  hold  want  wait |  lease   part    left  recall | why
  A         0     0    12     0 |     10     10       0      no | alone it may hold all there is
  B         0     0    12     0 |      0      0       0      no | nothing is left: A is to give back
  A         2    10    12     0 |     10      2       0     yes | its lease stands until it does
  A         2     2    12     0 |      4      2       6      no | its part: 8 left / (2 × 2 nodes)
  B         0     0    12     0 |    1.5    1.5     4.5      no | 6 / 4
  A         4     4    12     0 |  5.125  1.125   3.375      no | 4.5 / 4
  B         1     1    12     0 |      1      0   3.875      no | under a click: it is left for all
  B         1     1    12     1 |      2      0   2.875      no | but a click that waits is paid
  A         5     5    12     1 |      6      0       2      no | so does one that A cannot pay
  A         6     6    12     2 |      8      0       0      no | two at once
  B         2     2    12     1 |      2      0       0      no | nothing is left: A is to give back
  A         7     8    12     0 |      8      0       0     yes | one of its clicks did not come
  A         7     7    12     0 |      7      0       1      no | its price goes back
  B         2     2    12     1 |      3      0       0      no | and pays the one of B
  A         7     7    12     1 |      7      0       0      no | ten were paid, seven and three
`

test('two nodes share a budget of ten clicks, and spend each of them once', async (t) => {
  const ask = await makeNodes(t)
  const leases = new Map<string, number>()
  const [head = '', ...steps] = STEPS.trim().split('\n')
  for (const step of steps) {
    const [asked = '', answer = ''] = step.split(' | ')
    const [node = '', ...clicks] = asked.trim().split(/\s+/)
    const printed = await ask(node, clicks.map(Number))
    assert.deepEqual(printed, answer.trim().split(/\s+/), `${head}\n${step}`)
    const [lease, , left] = printed.map(Number)
    leases.set(node, lease ?? 0)
    const all = [...leases.values()].reduce((sum, each) => sum + each, left ?? 0)
    assert.equal(all, 10, 'what nobody holds is left')
  }
})

const DAY = '2026-04-13'
const NOON = Date.parse(`${DAY}T12:00:00Z`)
const PRICE = 100_000

/** Two nodes without any message yet. */
async function makeNodes(t: TestContext) {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros)
    values (1, 'cpc', ${PRICE}, ${10 * PRICE})`)
  await db.run(sql`
    insert into node (node_id, host, pid, roles, heartbeat_at)
    select id, 'here', 1, 'edge', '-infinity' from generate_series(1, 2) as id`)
  await openAccounts(db, [{ campaignId: 1, day: DAY }])
  const leaseIds = new Map<string, number>()
  let requestNo = 0
  return async (node: string, clicks: readonly number[]): Promise<string[]> => {
    const [spent = 0, hold = 0, want = 0, wait = 0] = clicks.map((count) => count * PRICE)
    const request = {
      ...{ campaignId: 1, day: DAY, leaseId: leaseIds.get(node) ?? 0, priceMaxMicros: PRICE },
      ...{ spentMicros: spent, holdMicros: hold, wantMicros: want, immediateMicros: wait },
      ...{ isFinal: false, inFlightMicros: 0 },
    }
    requestNo += 1
    const identity = { nodeId: node === 'A' ? 1 : 2, incarnation: '1' }
    const batch = { requestNo, requests: [request], nowMs: NOON }
    const answer = await requestLeases(db, identity, batch)
    const [grant] = answer?.grants ?? []
    assert(answer && grant)
    leaseIds.set(node, grant.leaseId)
    const { grantedMicros, fairMicros, refillableMicros } = grant
    const amounts = [grantedMicros, fairMicros, refillableMicros].map(
      (micros) => `${micros / PRICE}`,
    )
    return [...amounts, answer.recalled.includes(grant.leaseId) ? 'yes' : 'no']
  }
}
