/** Attacks on a running service; each prints what it achieves. Exits 1 when one goes too far. */
import { floodAuctions } from './abuse-auction-flood.ts'

for (const attack of [floodAuctions]) {
  if (!(await attack())) process.exitCode = 1
}
