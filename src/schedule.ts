/** Something done by the clock: its name, its time and its work. */
import type { Node } from './node.ts'

export interface Schedule {
  readonly task: string
  /** Minute, hour, day, month, weekday; UTC. */
  readonly cron: string
  /** Its last time is made up for at a start within a day: a service may be off every night. */
  readonly isMadeUpFor?: boolean
  readonly work: (node: Node) => Promise<unknown>
}
