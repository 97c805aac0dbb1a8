/** What a reconciliation finds: a figure that is not what the log says. */
export interface Difference {
  readonly table: string
  readonly key: string
  readonly column: string
  readonly expected: string | null // by the log
  readonly found: string | null // in the table
  readonly cause: string // the events that say so
}
