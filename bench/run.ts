/** `npm run bench`: runs every benchmark in turn and exits 1 when one misses its goal. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const BENCHMARKS = [
  'auction-core',
  'http',
  'latency',
  'event-log',
  'fold',
  'feed-import',
  'pacing',
  'roas',
  'leases',
  'small-budgets',
  'prediction',
  'value-worlds',
  'evaluate',
  'click-logs',
  'statistics',
  'breakdown',
  'product-search',
  'reconcile',
  'orders',
  'traffic',
]

for (const name of BENCHMARKS) {
  console.log(`\n== ${name}`)
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
