/**
 * Plays a week of generated traffic, about 320,000 actions, through the whole service. Compares
 * counts with the recording's true figures and earnings with the receipts' prices to the
 * micro-dollar, then runs `souk reconcile`. Takes three minutes; `npm test` plays three days.
 *
 *   node bench/traffic.ts [--sessions 20000]
 *
 * Runs in this process at the recorded times, because a network client cannot set the clock.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from '../src/platform/postgres/sql.ts'
import { reconcile } from '../src/reconcile/reconcile.ts'
import { replayTraffic } from '../test/support/traffic-replay.ts'
import { assertEarnings, assertTruth } from '../test/support/traffic-truth.ts'
import { hasTrafficKit, makeTraffic } from './make-traffic.ts'

const { values } = parseArgs({ options: { sessions: { type: 'string', default: '20000' } } })

if (!hasTrafficKit()) process.exit()

await using stack = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'souk-traffic-'))
stack.defer(() => rm(folder, { recursive: true, force: true }))
makeTraffic(folder, ['--sessions', values.sessions])

const started = performance.now()
const seconds = () => (performance.now() - started) / 1_000
const scope = { after: (work: () => Promise<void>) => stack.defer(work) }
const { node, actions } = await replayTraffic(scope, folder)
const played = seconds()
await assertTruth(node.database, folder)
await assertEarnings(node.database)
const { events, clicks, orders, differences } = await reconcile(node.database, {
  from: null,
  to: null,
})
assert.deepEqual(differences, [], 'reconcile finds no difference')
const earned = await node.database.row<{ earnings: string; lines: string }>(sql`
  select (select sum(earnings_micros) from stats_day) as earnings,
    (select count(*) from ledger_line) as lines`)
console.log(
  `${actions.length.toLocaleString('en')} actions in ${played.toFixed(0)} s ` +
    `(${Math.round(actions.length / played).toLocaleString('en')}/s, one at a time): ` +
    `${events.toLocaleString('en')} events, ${clicks} clicks, ${orders} orders, ${earned?.lines} ledger lines`,
)
console.log(
  `counts equal the recording’s truth; earnings of ${earned?.earnings} micro-dollars equal the ` +
    `receipts’; reconcile finds no difference`,
)
