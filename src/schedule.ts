/** Something done by the clock: its name, its time and its work. */
import type { Node } from './node.ts'

export interface Schedule {
  readonly task: string
  /** Minute, hour, day, month, weekday; UTC. */
  readonly cron: string
  readonly work: (node: Node) => Promise<unknown>
}
