/** The last runs of scheduled jobs, and their jobs in graphile-worker's queue. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { areTablesThere } from './schedule-store.ts'

export async function recordJobStart(db: Db, task: string): Promise<void> {
  await db.run(sql`
    insert into job_run (task, started_at) values (${task}, now())
    on conflict (task) do update set started_at = excluded.started_at, ended_at = null`)
}

/** `error` is null for a run that succeeded. */
export async function recordJobEnd(db: Db, task: string, error: string | null): Promise<void> {
  await db.run(sql`
    update job_run set ended_at = now(), error = ${error},
      succeeded_at = case when ${error}::text is null then now() else succeeded_at end
    where task = ${task}`)
}

export interface JobRun {
  readonly task: string
  readonly started_at: Date | null
  readonly ended_at: Date | null
  readonly succeeded_at: Date | null
  readonly error: string | null
  readonly is_running: boolean
  /** When a queued run starts: one that was asked for, or a retry; null if none is queued. */
  readonly queued_at: Date | null
}

/** The last run of each of these tasks, in their order. */
export async function listJobRuns(db: Db, tasks: readonly string[]): Promise<JobRun[]> {
  // Before the first worker has started there is no queue.
  const queued = (await areTablesThere(db))
    ? sql`
    select task.identifier as task, bool_or(locked_at is not null) as is_running,
      min(run_at) filter (where locked_at is null and attempts < max_attempts) as queued_at
    from graphile_worker._private_jobs as job
    join graphile_worker._private_tasks as task on task.id = job.task_id
    group by task.identifier`
    : sql`
    select null::text as task, false as is_running, null::timestamptz as queued_at where false`
  return db.rows(sql`
    with queued as (${queued})
    select wanted.task, started_at, ended_at, succeeded_at, error,
      coalesce(is_running, false) as is_running, queued_at
    from unnest(${tasks}::text[]) with ordinality as wanted (task, place)
    left join job_run on job_run.task = wanted.task
    left join queued on queued.task = wanted.task
    order by place`)
}

/**
 * Queues a run of a task at once, in place of one that is queued for later. False before the first
 * worker has started.
 */
export async function queueJob(tx: Db, task: string): Promise<boolean> {
  if (!(await areTablesThere(tx))) return false
  await tx.row(sql`select graphile_worker.add_job(${task}, job_key := ${task})`)
  return true
}
