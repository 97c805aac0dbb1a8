/**
 * The table `job`: when each scheduled job runs next, which worker runs it now, and how its last
 * run ended. All times come from the database's clock, which every worker shares.
 */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** A job with its next time by schedule; null: never. */
export interface NextRun {
  readonly task: string
  readonly at: Date | null
}

/**
 * Adds jobs that are new, and brings forward jobs that are due later than by their schedule: their
 * schedule has changed, or the database's clock was fast.
 */
export async function registerJobs(db: Db, schedule: readonly NextRun[]): Promise<void> {
  const tasks = schedule.map(({ task }) => task)
  const times = schedule.map(({ at }) => at?.toISOString() ?? 'infinity')
  await db.run(sql`
    insert into job (task, next_at)
    select task, next_at
    from unnest(${tasks}::text[], ${times}::timestamptz[]) as input (task, next_at)
    on conflict (task) do update set next_at = excluded.next_at
    where job.next_at > excluded.next_at and job.worker is null`)
}

/**
 * Takes the job that is due longest for this worker, or one whose worker has not renewed its lease.
 * Returns null if there is none among these tasks.
 */
export async function claimJob(
  db: Db,
  { worker, tasks, leaseMs }: JobLease & { readonly leaseMs: number },
): Promise<string | null> {
  const row = await db.row<{ task: string }>(sql`
    update job set worker = ${worker}, started_at = now(), ended_at = null, next_at = 'infinity',
      leased_until = now() + make_interval(secs => ${leaseMs / 1000})
    where task = (
      select task from job
      where task = any(${tasks}::text[])
        and case when worker is null then next_at <= now() else leased_until < now() end
      order by next_at limit 1 for update skip locked)
    returning task`)
  return row?.task ?? null
}

export interface JobLease {
  readonly worker: string
  readonly tasks: readonly string[]
}

/** Renews the leases of jobs that this worker still runs and nobody else has taken over. */
export async function renewLeases(
  db: Db,
  { worker, tasks, leaseMs }: JobLease & { readonly leaseMs: number },
): Promise<void> {
  await db.run(sql`
    update job set leased_until = now() + make_interval(secs => ${leaseMs / 1000})
    where worker = ${worker} and task = any(${tasks}::text[])`)
}

/** Gives up the leases of a worker that stops. Another worker, or the next start, runs the jobs. */
export async function releaseJobs(db: Db, worker: string): Promise<void> {
  await db.run(sql`
    update job set worker = null, leased_until = null, next_at = now() where worker = ${worker}`)
}

export interface JobEnd extends NextRun {
  readonly worker: string
  /** Null for a run that succeeded. */
  readonly error: string | null
}

/**
 * Records the end of a run. A failed job is retried with increasing delay, at the latest at its
 * next time by schedule. A run that was asked for meanwhile stays due.
 */
export async function recordJobEnd(db: Db, { worker, task, at, error }: JobEnd): Promise<void> {
  await db.run(sql`
    update job set worker = null, leased_until = null, ended_at = now(), error = ${error},
      succeeded_at = case when ${error}::text is null then now() else succeeded_at end,
      failures = case when ${error}::text is null then 0 else failures + 1 end,
      next_at = least(next_at, ${at}::timestamptz, case when ${error}::text is not null
        then now() + make_interval(secs => exp(least(failures + 1, 10))) end)
    where task = ${task} and worker = ${worker}`)
}

export interface JobRun {
  readonly task: string
  readonly started_at: Date | null
  readonly ended_at: Date | null
  readonly succeeded_at: Date | null
  readonly error: string | null
  readonly is_running: boolean
  /** Null if it runs, has no next time, or no worker has started yet. */
  readonly next_at: Date | null
}

/** The last run of each of these tasks, in their order. */
export async function listJobRuns(db: Db, tasks: readonly string[]): Promise<JobRun[]> {
  return db.rows(sql`
    select wanted.task, started_at, ended_at, succeeded_at, error,
      coalesce(leased_until >= now(), false) as is_running, nullif(next_at, 'infinity') as next_at
    from unnest(${tasks}::text[]) with ordinality as wanted (task, place)
    left join job on job.task = wanted.task
    order by place`)
}

/** Makes a job due at once. False before a worker has started for the first time. */
export async function queueJob(tx: Db, task: string): Promise<boolean> {
  return (await tx.run(sql`update job set next_at = now() where task = ${task}`)) > 0
}
