/**
 * Runs `souk evaluate` on traffic served by the service itself: three weeks of generated traffic,
 * played at its recorded times, then evaluated like any operator's log. The synthetic readers buy
 * alike everywhere, so pairs have little to teach. `node bench/evaluate.ts [plot.svg]`; takes two
 * minutes.
 *
 * Needs ../shared/data.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluateCommand } from '../src/cli/evaluate.ts'
import { replayTraffic } from '../test/support/traffic-replay.ts'
import { hasTrafficKit, makeTraffic } from './make-traffic.ts'

// The first week is for training.
const DAYS = { start: '2026-03-02', from: '2026-03-09', to: '2026-03-22' }
const SIZE = ['--days', '21', '--sessions', '12000', '--orders', '3']
const [plot] = process.argv.slice(2)

if (hasTrafficKit()) await run()

async function run(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'souk-traffic-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  makeTraffic(folder, ['--start', `${DAYS.start}T00:00:00Z`, ...SIZE])
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) }
  const { node, nowMs } = await replayTraffic(scope, folder)
  const context = { database: async () => node.database, now: () => new Date(nowMs) }
  const { from, to } = DAYS
  const found = await evaluateCommand(context, {
    from,
    to,
    ...(plot === undefined ? {} : { plot }),
  })
  const { slot, clicks, orders, pair_slots: pairs, ours, baselines } = found
  console.log(`${from} to ${to}: ${clicks} clicks, ${orders} orders, ${pairs} pair-${slot}s`)
  const rows = { ours, ...baselines }
  console.log('method          log loss  norm. entropy  calibration  rel. error  wAPE  coverage')
  for (const [name, metrics] of Object.entries(rows)) {
    if (metrics === null) continue
    const cells = [
      metrics.log_loss.toFixed(5),
      (metrics.normalised_entropy?.toFixed(4) ?? '').padStart(11),
      metrics.calibration.toFixed(3).padStart(12),
      metrics.calibration_error.toFixed(5).padStart(10),
      metrics.weighted_error.toFixed(3).padStart(8),
      metrics.coverage === null ? '' : `${(metrics.coverage * 100).toFixed(1)} %`.padStart(9),
    ]
    console.log(`${name.padEnd(14)}  ${cells.join(' ')}`)
  }
}
