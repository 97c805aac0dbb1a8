/** The books checked against the log, for tests of the folders below src/reconcile/reconcile.ts. */

import type { Database } from '../../src/platform/postgres/postgres.ts'
import { reconcile } from '../../src/reconcile/reconcile.ts'

/** Every figure that does not follow from the log; none in a correct database. */
export async function listDifferences(db: Database) {
  return (await reconcile(db, { from: null, to: null })).differences
}
