/** What a health check gets, and its result. */
import type { Config } from '../node/config.ts'
import { MIGRATIONS_FOLDER, type Storage } from '../node/open-storage.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { newestMigration, readVersion } from '../platform/postgres/migrate.ts'
import type { Database } from '../platform/postgres/postgres.ts'

/** Figures are promised within 5 s; twice that is an outage, not a busy second. */
export const LAG_MAX_MS = 10_000

/** An installation to examine. The caller sets the statement timeout. */
export interface HealthContext {
  readonly config: Config
  storage(options?: { readonly statementTimeoutMs: number }): Promise<Omit<Storage, 'close'>>
  readonly now: () => Date
}

export interface Finding {
  readonly ok: boolean
  readonly detail: string
}

export const good = (detail: string): Finding => ({ ok: true, detail })
export const bad = (detail: string): Finding => ({ ok: false, detail })

/** Whether the tables match this program; otherwise they are not queried. */
export async function isMigrated(db: Database): Promise<boolean> {
  const version = await readVersion(db, MIGRATIONS_FOLDER).catch((error: unknown) => {
    if (error instanceof Refusal) return null // The check of migrations reports it.
    throw error
  })
  return version === (await newestMigration(MIGRATIONS_FOLDER))
}
