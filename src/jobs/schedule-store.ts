/**
 * Finds jobs of the schedules that have ended without a record, and releases them.
 *
 * A runner holds locks for its process's jobs on its listening connection. They end with the
 * process. By itself graphile-worker would treat the jobs of a killed process as running for four
 * hours.
 */
import type { ClientBase } from 'pg'
import { DEAD_AFTER_SECONDS } from '../platform/postgres/node-registry.ts'
import { arrayLiteral } from '../platform/postgres/pg-array.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** First keys of the advisory locks; the second is a name, hashed. */
const WORKER_LOCK = 0x57_4f_52_4b // 'WORK'
const RUNNER_LOCK = 0x52_55_4e_53 // 'RUNS'

/**
 * Locks the names of a worker and its runners while the connection lives. The locks are shared,
 * because a connection that a runner returned to the pool holds them beside the next one.
 */
export async function holdRunners(
  client: ClientBase,
  { worker, runners }: { readonly worker: string; readonly runners: readonly string[] },
): Promise<void> {
  const text = `
    select pg_advisory_lock_shared($1, hashtext($2))
    union all
    select pg_advisory_lock_shared($3, hashtext(name)) from unnest($4::text[]) as named (name)`
  await client.query(text, [WORKER_LOCK, worker, RUNNER_LOCK, arrayLiteral(runners)])
}

/** For a stop: otherwise these jobs would count as running for four hours. */
export async function releaseJobsOf(db: Db, runners: readonly string[]): Promise<void> {
  if (runners.length === 0) return
  await db.row(sql`select graphile_worker.force_unlock_workers(${runners}::text[])`)
}

/** Fails the jobs that these ended runners still hold. Returns their number. */
export async function failJobsOf(
  db: Db,
  { runners, error }: { readonly runners: readonly string[]; readonly error: string },
): Promise<number> {
  if (runners.length === 0) return 0
  // Retried like any failed job, with increasing delay, because the job may have caused the
  // failure.
  return db.run(sql`
    update graphile_worker._private_jobs set locked_by = null, locked_at = null,
      last_error = ${error},
      run_at = greatest(now(), run_at) + make_interval(secs => exp(least(attempts, 10)))
    where locked_by = any(${runners}::text[])`)
}

/**
 * Runners with jobs whose process is gone. Empty while fewer workers hold their names than are
 * alive: one may have lost its connection and still work, or be of an older version. A killed
 * worker counts as gone a minute after its last heartbeat.
 */
export async function listGoneRunners(db: Db): Promise<string[]> {
  const rows = await db.rows<{ runner: string }>(sql`
    with held as materialized (
      select classid, objid as name from pg_locks
      where locktype = 'advisory' and granted
        and classid in (${WORKER_LOCK}::int::oid, ${RUNNER_LOCK}::int::oid)
        and database = (select oid from pg_database where datname = current_database())
    )
    select distinct locked_by as runner from graphile_worker._private_jobs
    where locked_by is not null and hashtext(locked_by)::oid not in (
        select name from held where classid = ${RUNNER_LOCK}::int::oid)
      and (select count(distinct name) from held where classid = ${WORKER_LOCK}::int::oid) >= (
        select count(*) from node where 'worker' = any(string_to_array(roles, ','))
          and heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS}))`)
  return rows.map(({ runner }) => runner)
}

/** A job cut short after its next turn had come is not started again. */
export async function deleteCutShort(db: Db): Promise<void> {
  await db.run(sql`
    delete from graphile_worker._private_jobs
    where key is null and attempts = max_attempts
      and coalesce(locked_at < now() - interval '4 hours', true)`)
}

/**
 * A job that ran by a fast clock would not be due again before that time. Uses the database's
 * clock, which all workers share.
 */
export async function forgetRunsAhead(db: Db, aheadMs: number): Promise<void> {
  await db.run(sql`
    update graphile_worker._private_known_crontabs set last_execution = now()
    where last_execution > now() + make_interval(secs => ${aheadMs / 1000})`)
}

/** False before the very first runner has started. */
export async function areTablesThere(db: Db): Promise<boolean> {
  const row = await db.row<{ is_there: boolean }>(sql`
    select to_regclass('graphile_worker._private_known_crontabs') is not null as is_there`)
  return row?.is_there === true
}
