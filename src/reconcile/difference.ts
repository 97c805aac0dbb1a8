/** A difference that reconciliation found: a figure that does not follow from the log. */
export interface Difference {
  readonly table: string
  readonly key: string
  readonly column: string
  readonly expected: string | null // The value that follows from the log.
  readonly found: string | null // The value in the table.
  readonly cause: string // The events behind the expected value.
}
