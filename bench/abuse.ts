/**
 * Attacks on a running service, each with the limits that Souk ships with. Each prints what it
 * achieves, and is followed by `souk reconcile`. Exits 1 when one goes too far.
 *
 *   node bench/abuse.ts [bodies clicks storage auctions unpaid-clicks what-if]
 */
import { parseArgs } from 'node:util'
import { floodAuctions } from './abuse-auction-flood.ts'
import { postHostileBodies } from './abuse-bodies.ts'
import { floodClicks } from './abuse-click-flood.ts'
import { clickFalsely } from './abuse-clicks.ts'
import { growDatabase } from './abuse-storage.ts'
import { askLongDays } from './abuse-what-if.ts'

const ATTACKS = {
  bodies: postHostileBodies,
  clicks: clickFalsely,
  storage: growDatabase,
  auctions: floodAuctions,
  'unpaid-clicks': floodClicks,
  'what-if': askLongDays,
} as const

const { positionals } = parseArgs({ allowPositionals: true })
for (const [name, attack] of Object.entries(ATTACKS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  if (!(await attack())) {
    console.log(`  ${name}: the bound did not hold`)
    process.exitCode = 1
  }
}
