/** Jobs that run a day again, in SQL: any node answers how far one is. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { WhatIf } from './result-schema.ts'

/** A node that runs a job says so every few seconds; after this silence it is gone. */
const SILENT_SECONDS = 60
const KEPT = '24 hours'

export interface JobProgress {
  jobId: string
  state: 'waiting' | 'running'
  auctions: number // of the day
  done: number
}

export interface JobRow {
  readonly job_id: string
  readonly state: JobProgress['state'] | 'done' | 'failed'
  readonly auctions: number
  readonly auctions_done: number
  readonly result: WhatIf | null
}

export async function insertJob(db: Db, { uid, at }: { uid: number; at: Date }): Promise<string> {
  const row = await db.row<{ job_id: string }>(sql`
    insert into what_if_job (uid, created_at, updated_at) values (${uid}, ${at}, ${at})
    returning job_id`)
  if (row === null) throw new Error('no job was made')
  return row.job_id
}

/** A job of this user; one whose node has ended has failed. */
export function findJob(
  db: Db,
  { jobId, uid, now }: { jobId: string; uid: number; now: Date },
): Promise<JobRow | null> {
  return db.row(sql`
    select job_id, auctions, auctions_done, result,
      case when state in ('waiting', 'running')
          and updated_at < ${now}::timestamptz - make_interval(secs => ${SILENT_SECONDS})
        then 'failed' else state end as state
    from what_if_job where job_id = ${jobId} and uid = ${uid}`)
}

export async function updateJobs(db: Db, jobs: readonly JobProgress[], now: Date): Promise<void> {
  await db.run(sql`
    update what_if_job as known
    set state = progress.state, auctions = progress.auctions, auctions_done = progress.done,
      updated_at = ${now}
    from unnest(
      ${jobs.map(({ jobId }) => jobId)}::uuid[],
      ${jobs.map(({ state }) => state)}::text[],
      ${jobs.map(({ auctions }) => auctions)}::int[],
      ${jobs.map(({ done }) => done)}::int[]
    ) as progress (job_id, state, auctions, done)
    where known.job_id = progress.job_id and known.state in ('waiting', 'running')`)
}

/** Stores a job's result; null: it failed. */
export async function finishJob(
  db: Db,
  { jobId, auctions, done }: JobProgress,
  { result, now }: { result: WhatIf | null; now: Date },
): Promise<void> {
  await db.run(sql`
    update what_if_job set state = ${result === null ? 'failed' : 'done'},
      auctions = ${auctions}, auctions_done = ${done},
      result = ${result === null ? null : JSON.stringify(result)}::jsonb, updated_at = ${now}
    where job_id = ${jobId}`)
}

export async function deleteOldJobs(db: Db, now: Date): Promise<void> {
  await db.run(sql`
    delete from what_if_job where created_at < ${now}::timestamptz - ${KEPT}::interval`)
}
