/** Scheduled jobs and the nightly reconciliation: schedules, last and next runs, run now. */
import Type from 'typebox'
import { cursorId, pageOf, sliceOf } from '../accounts/id-pages.ts'
import { action, type Call, list, type Operation } from '../accounts/operation.ts'
import { type JobRun, listJobRuns, queueJob } from '../jobs/job-store.ts'
import { nextRun } from '../jobs/next-run.ts'
import { SCHEDULES, type Schedule } from '../jobs/schedules.ts'
import { ApiError, notFound } from '../platform/errors/api-errors.ts'
import { orNull, TextOrNull, Time, TimeOrNull } from '../platform/http/field-types.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { listReconciliations } from '../reconcile/reconciliation-store.ts'

const PATH = '/api/v1/network/jobs/'
const RECONCILIATION_PATH = '/api/v1/network/reconciliation/'
const TASKS = SCHEDULES.map(({ task }) => task)

export const JobRecord = Type.Object({
  job: Type.String(),
  schedule: Type.String({
    description:
      'Cron: minute, hour, day, month, weekday; UTC. A missed run is done at the next start.',
  }),
  state: Type.Enum(['idle', 'queued', 'running'], {
    description: '`queued`: due, and waiting for a worker',
  }),
  datetime_started: orNull(Time, 'Of the last run; null: none yet'),
  datetime_ended: TimeOrNull,
  datetime_succeeded: orNull(Time, 'End of the last run without an error'),
  error: orNull(Type.String(), 'Of the last run that ended; null: it succeeded'),
  datetime_next: orNull(Time, 'The next run by schedule, or a retry after an error'),
})

const listJobs = list({
  id: 'listJobs',
  tag: 'network',
  path: PATH,
  summary: 'List scheduled jobs with their last and next run',
  permission: 'network.read',
  entry: JobRecord,
  run: async ({ db, query, now }) => {
    const runs = await listJobRuns(db, TASKS)
    const jobs = SCHEDULES.map((schedule, at) => toRecord(schedule, runs[at] ?? null, now))
    return sliceOf(jobs, query)
  },
})

const runJob = action({
  id: 'runJob',
  tag: 'network',
  method: 'POST',
  path: `${PATH}:job/run/`,
  summary: 'Run a scheduled job now',
  description: 'A worker starts it within seconds. 409 while it is running.',
  permission: 'network.write',
  status: 202,
  params: Type.Object({ job: Type.String({ description: 'As in the list' }) }),
  entry: JobRecord,
  run: (call) => startJob(call, call.params.job),
})

export const ReconciliationRecord = Type.Object({
  reconciliation_id: Type.String({ description: 'Its time in Unix milliseconds' }),
  date_from: Type.String({ format: 'date' }),
  date_to: Type.String({ format: 'date' }),
  events: Type.Integer({ description: 'Events of these days that were counted again' }),
  differences: Type.Integer({ description: 'Figures that differ from the log; 0 is right' }),
  first_differences: Type.Array(
    Type.Object({
      table: Type.String(),
      key: Type.String(),
      column: Type.String(),
      expected: orNull(Type.String(), 'By the log'),
      found: TextOrNull,
      cause: Type.String({ description: 'The events behind the expected value' }),
    }),
    { description: 'At most 20' },
  ),
  datetime_created: Time,
  datetime_updated: Time,
})

const listReconciliationRuns = list({
  id: 'listReconciliations',
  tag: 'network',
  path: RECONCILIATION_PATH,
  summary: 'List reconciliations, the latest first',
  description: 'Each one computes all figures of its days again, straight from the event log.',
  permission: 'network.read',
  entry: ReconciliationRecord,
  run: async ({ db, query }) => {
    const { limit } = query
    const rows = await listReconciliations(db, { beforeMs: cursorId(query), limit })
    return pageOf(rows, limit, {
      idOf: ({ at }) => at.getTime(),
      toEntry: ({ at, from_day, to_day, events, ...row }) => ({
        reconciliation_id: String(at.getTime()),
        date_from: from_day,
        date_to: to_day,
        events: Number(events),
        differences: row.differences,
        first_differences: [...row.first_differences],
        datetime_created: formatTimestamp(at),
        datetime_updated: formatTimestamp(at),
      }),
    })
  },
})

const runReconciliation = action({
  id: 'runReconciliation',
  tag: 'network',
  method: 'POST',
  path: `${RECONCILIATION_PATH}run/`,
  summary: 'Reconcile the last days now',
  description: 'A worker runs it on a separate thread; the result then heads the list.',
  permission: 'network.write',
  status: 202,
  entry: JobRecord,
  run: (call) => startJob(call, 'reconcile'),
})

export const jobOperations = (): Operation[] => [
  listJobs,
  runJob,
  listReconciliationRuns,
  runReconciliation,
]

async function startJob(
  { db, now, audit }: Pick<Call<unknown, unknown, unknown>, 'db' | 'now' | 'audit'>,
  job: string,
) {
  const schedule = SCHEDULES.find(({ task }) => task === job)
  if (schedule === undefined) throw notFound(`No job ${job}; known: ${TASKS.join(', ')}`)
  const [before] = await listJobRuns(db, [job])
  if (before?.is_running) {
    throw new ApiError('wrongState', { message: `The job ${job} is running` })
  }
  if (!(await queueJob(db, job))) {
    throw new ApiError('wrongState', { message: 'No worker has started yet' })
  }
  await audit({ action: 'job.run', target: `job:${job}` })
  const [run] = await listJobRuns(db, [job])
  return [toRecord(schedule, run ?? null, now)]
}

function toRecord({ task, cron }: Schedule, run: JobRun | null, now: Date) {
  const nextAt = run?.next_at ?? nextRun(cron, now)
  return {
    job: task,
    schedule: cron,
    state: stateOf(run, now),
    datetime_started: formatTimestampOrNull(run?.started_at ?? null),
    datetime_ended: formatTimestampOrNull(run?.ended_at ?? null),
    datetime_succeeded: formatTimestampOrNull(run?.succeeded_at ?? null),
    error: run?.error ?? null,
    datetime_next: formatTimestampOrNull(nextAt),
  }
}

function stateOf(run: JobRun | null, now: Date): 'idle' | 'queued' | 'running' {
  if (run?.is_running) return 'running'
  return run?.next_at && run.next_at <= now ? 'queued' : 'idle'
}
