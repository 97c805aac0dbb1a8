/** Dependencies of the routes of reports and statements. */
import type { KeyGuard } from '../accounts/require-key.ts'
import type { Db } from '../platform/postgres/postgres.ts'

export interface ReportDeps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly now: () => Date
}
