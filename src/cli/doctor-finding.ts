/** What a check of `souk doctor` comes to. */
import { MIGRATIONS_FOLDER } from '../open-storage.ts'
import { newestMigration, readVersion } from '../platform/migrate.ts'
import type { Database } from '../platform/postgres.ts'

/** Figures are promised within 5 s; twice that is somebody's absence, not a busy second. */
export const LAG_MAX_MS = 10_000

export interface Finding {
  readonly ok: boolean
  readonly detail: string
}

export const good = (detail: string): Finding => ({ ok: true, detail })
export const bad = (detail: string): Finding => ({ ok: false, detail })

/** Whether the tables are as this program knows them: else nothing is asked of them. */
export async function isMigrated(db: Database): Promise<boolean> {
  const version = await readVersion(db, MIGRATIONS_FOLDER)
  return version === (await newestMigration(MIGRATIONS_FOLDER))
}
