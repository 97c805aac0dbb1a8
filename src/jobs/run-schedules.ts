/**
 * Runs the schedules. One of many workers claims each job that is due and holds a lease on it while
 * it runs. A failed job is retried. A missed one runs once, at the next start.
 */
import type { Node } from '../node/node.ts'
import { startPoller } from '../platform/concurrency/poller.ts'
import { withTimeout } from '../platform/concurrency/timeout.ts'
import { formatError } from '../platform/errors/format-error.ts'
import { databaseTime, msAhead } from '../platform/postgres/database-clock.ts'
import { errorLogger } from '../platform/process/log.ts'
import { claimJob, recordJobEnd, registerJobs, releaseJobs, renewLeases } from './job-store.ts'
import { nextRun } from './next-run.ts'
import { SCHEDULES, type Schedule } from './schedules.ts'

/** A nightly reconciliation must not delay the webhooks of each minute. */
const JOBS_AT_ONCE = 4
/** The longest time that a job which is due, or was asked for, waits for an idle worker. */
const POLL_MS = 1_000
/** Jobs whose time was set by a wrong clock must not wait for long. */
const REGISTER_MS = 60_000
/** A job of a killed worker runs again after this time. A lease is renewed four times within it. */
const LEASE_MS = 60_000
const RENEWALS = 4
/** A stop has ten seconds, and the log's last appends come after this. */
const RELEASE_MS = 1_000

interface Runner {
  readonly node: Node
  readonly schedules: ReadonlyMap<string, Schedule>
  readonly worker: string
  readonly leaseMs: number
  /** The jobs that run in this process. Updated in place. */
  readonly running: Set<string>
  readonly stopping: AbortSignal
}

/**
 * Starts the schedules on this node's database. `close` does not wait for running jobs: another
 * node, or the next start, runs them again.
 */
export async function startSchedules(
  node: Node,
  schedules: readonly Schedule[] = SCHEDULES,
  { leaseMs = LEASE_MS, pollMs = POLL_MS } = {},
): Promise<{ close(): Promise<void> }> {
  const stop = new AbortController()
  const runner: Runner = {
    node,
    schedules: new Map(schedules.map((schedule) => [schedule.task, schedule])),
    worker: String(node.ids.next()),
    leaseMs,
    running: new Set(),
    stopping: stop.signal,
  }
  await register(runner)
  const onError = errorLogger(node.log, 'schedules')
  const timers = [
    startPoller(() => register(runner), { everyMs: REGISTER_MS, onError }),
    startPoller(() => renew(runner), { everyMs: leaseMs / RENEWALS, onError }),
    startPoller(() => startDue(runner), { everyMs: pollMs, onError }),
  ]
  return {
    close: async () => {
      stop.abort()
      for (const timer of timers) clearInterval(timer)
      const released = releaseJobs(node.database, runner.worker)
      await withTimeout(released, RELEASE_MS).catch(() => undefined)
    },
  }
}

async function register({ node: { database: db }, schedules }: Runner): Promise<void> {
  const now = await databaseTime(db)
  const nextRuns = [...schedules.values()].map(({ task, cron }) => ({
    task,
    at: nextRun(cron, now),
  }))
  await registerJobs(db, nextRuns)
}

async function renew({ node: { database: db }, worker, leaseMs, running }: Runner): Promise<void> {
  if (running.size > 0) await renewLeases(db, { worker, leaseMs, tasks: [...running] })
}

async function startDue(runner: Runner): Promise<void> {
  const { node, schedules, worker, leaseMs, running, stopping } = runner
  while (!stopping.aborted && running.size < JOBS_AT_ONCE) {
    // A job whose lease expired during a database outage still runs here, so it is left out.
    const tasks = [...schedules.keys()].filter((task) => !running.has(task))
    const task = await claimJob(node.database, { worker, leaseMs, tasks })
    const schedule = task === null ? undefined : schedules.get(task)
    if (schedule === undefined || stopping.aborted) return
    running.add(schedule.task)
    void runJob(runner, schedule).finally(() => running.delete(schedule.task))
  }
}

/** Never rejects. A job whose end cannot be recorded runs again when its lease expires. */
async function runJob({ node, worker }: Runner, { task, cron, work }: Schedule): Promise<void> {
  const { database: db, log } = node
  try {
    const error = await notAhead(node)
      .then(work)
      .then(() => null, formatError)
    if (error !== null) log.warn({ job: task, error }, 'a scheduled job failed; it is retried')
    await recordJobEnd(db, { worker, task, error, at: nextRun(cron, await databaseTime(db)) })
  } catch (err) {
    log.warn({ job: task, err }, 'the end of a job was not recorded; it runs again')
  }
}

/**
 * The node with a clock that is not ahead of the database. Deleted data and issued statements
 * cannot be undone.
 */
async function notAhead(node: Node): Promise<Node> {
  const aheadMs = await msAhead(node.database, node.now())
  return { ...node, now: () => node.now() - aheadMs }
}
