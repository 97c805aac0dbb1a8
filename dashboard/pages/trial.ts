/** The settings that somebody tries on a past day. */
export interface Trial {
  readonly floor: number // US dollars
  readonly tolerance: number
  readonly beta: number
  readonly allow: readonly number[]
  readonly block: readonly number[]
}
