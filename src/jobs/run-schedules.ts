/**
 * Runs the schedules with graphile-worker: one of many workers does each job, and a failed job is
 * retried.
 */
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CronItem,
  Logger,
  parseCronItems,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker'
import type { Pool } from 'pg'
import type { Node } from '../node/node.ts'
import { withPatience } from '../platform/concurrency/patience.ts'
import { startPulse } from '../platform/concurrency/pulse.ts'
import { errorWords } from '../platform/errors/error-words.ts'
import { msAhead } from '../platform/postgres/database-clock.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { errorTeller } from '../platform/process/log.ts'
import { ClockSteps } from '../platform/time/clock-steps.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { recordJobEnd, recordJobStart } from './job-run-store.ts'
import {
  areTablesThere,
  deleteCutShort,
  failJobsOf,
  forgetRunsAhead,
  holdRunners,
  listGoneRunners,
  releaseJobsOf,
} from './schedule-store.ts'
import { SCHEDULES, type Schedule } from './schedules.ts'

/** A nightly reconciliation must not delay the webhooks of each minute. */
const JOBS_AT_ONCE = 4
/** A pause after a runner ended, in case its cause is temporary. */
const RETRY_MS = 1_000
const CLOCK_CHECK_MS = 1_000
/** Jobs left by a killed worker, or by one with a fast clock, must not delay others for long. */
const LEFT_CHECK_MS = 60_000
/**
 * A larger change means that the clock was wrong or the machine slept. Clocks of nodes may differ
 * by minutes.
 */
const CLOCK_STEP_MS = 600_000
/** A stop has ten seconds, and the log's last appends come after this. */
const LAST_JOBS_MS = 1_000
const GIVE_BACK_MS = 1_000

export const RUNNER_ENDED = 'the schedules ended: starting them again'

/**
 * Starts the schedules on this node's pool, and restarts them when the runner ends or the clock
 * jumps. After a machine slept, an old runner would run each job once per missed minute; after a
 * clock was set back, it would run none until the old time.
 */
export async function startSchedules(
  node: Node,
  schedules: readonly Schedule[] = SCHEDULES,
  { leftCheckMs = LEFT_CHECK_MS } = {},
): Promise<{ close(): Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  const work: ScheduledWork = { schedules, worker: String(node.ids.next()), pools: new Map() }
  const { pools } = work
  let runner = await startRunner(node, work)
  const clockSteps = new ClockSteps(node.now)
  let step = Promise.withResolvers<void>()
  const clock = setInterval(() => {
    if (Math.abs(clockSteps.take()) > CLOCK_STEP_MS) step.resolve()
  }, CLOCK_CHECK_MS)
  clock.unref()
  const left = startPulse(() => clearLeft(node), {
    everyMs: leftCheckMs,
    onError: errorTeller(node.log, 'schedules'),
  })

  void (async () => {
    while (!signal.aborted) {
      await Promise.race([untilEnded(runner), step.promise])
      step = Promise.withResolvers()
      // A running job continues beside the next runner, which does not wait hours for it.
      void runner.stop().catch(() => undefined)
      runner = (await startAgain(node, { ...work, signal })) ?? runner
    }
  })()
  return {
    close: async () => {
      stopping.abort()
      clearInterval(clock)
      clearInterval(left)
      // Does not wait for running jobs: another node, or the next start, runs them again.
      await withPatience(runner.stop(), LAST_JOBS_MS).catch(() => undefined)
      const given = releaseJobsOf(node.database, [...pools.keys()])
      await withPatience(given, GIVE_BACK_MS).catch(() => undefined)
    },
  }
}

/**
 * Its log has the reason. Three cases do not end the runner's promise, so this polls for them: a
 * runner that could not record a job's end takes no more jobs, but continues if another job ends
 * later or still runs. One that could not read its task ids caches the error and stops polling.
 */
async function untilEnded(runner: Runner): Promise<void> {
  const { promise: stuck, resolve } = Promise.withResolvers<void>()
  let last: unknown
  runner.events.on('worker:getJob:error', ({ error }) => {
    if (error === last) resolve()
    last = error
  })
  runner.events.on('pool:fatalError', () => resolve())
  await Promise.race([runner.promise, stuck]).catch(() => undefined)
}

/** Retries until it succeeds; null if it is stopped meanwhile. */
async function startAgain(
  node: Node,
  { signal, ...work }: ScheduledWork & { readonly signal: AbortSignal },
): Promise<Runner | null> {
  if (!signal.aborted) node.log.warn(RUNNER_ENDED)
  while (!signal.aborted) {
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
    const runner = signal.aborted ? null : await startRunner(node, work).catch(() => null)
    if (runner === null) continue
    if (!signal.aborted) return runner
    await runner.stop().catch(() => undefined)
  }
  return null
}

/** The names under which this process started jobs, with the number of running ones. */
type Pools = Map<string, number>

interface ScheduledWork {
  readonly schedules: readonly Schedule[]
  readonly worker: string // the name by which other workers know that this process is alive
  /** Updated in place. */
  readonly pools: Pools
}

async function startRunner(node: Node, work: ScheduledWork): Promise<Runner> {
  const { schedules, pools } = work
  await clearLeft(node)
  await failEnded(node.database, pools)
  const taskList: TaskList = Object.fromEntries(
    schedules.map((schedule) => [schedule.task, () => runRecorded(node, schedule)]),
  )
  const items = schedules.map(
    ({ task, cron, isMadeUpFor = false }): CronItem => ({
      task,
      match: cron,
      // A failing job is retried until its next turn, which replaces it. Otherwise the retries of
      // every turn would accumulate and block the other schedules.
      options: { backfillPeriod: isMadeUpFor ? periodOf(cron) : 0, jobKey: task },
    }),
  )
  return run({
    pgPool: releasedOnce(node.database.pool),
    taskList,
    events: runnerEvents(node.log, work),
    parsedCronItems: parseCronItems(items),
    concurrency: JOBS_AT_ONCE,
    noHandleSignals: true,
    // In batches, even of one: then a failure to record a job's end ends the runner. Without
    // batches it would be an unhandled rejection that ends the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    logger: new Logger(() => (level, message) => {
      // Routine messages are not logged, only failures.
      if (level === 'error' || level === 'warning') node.log.warn({ schedule: message }, 'schedule')
      else node.log.debug({ schedule: message }, 'schedule')
    }),
  })
}

/**
 * Runs a job and records when it started, when it ended, and how. A run that cannot be recorded
 * counts nevertheless: the record is only shown.
 */
async function runRecorded(node: Node, { task, work }: Schedule): Promise<void> {
  const { database: db } = node
  const onUnrecorded = errorTeller(node.log, 'the run of a job was not recorded')
  await recordJobStart(db, task).catch(onUnrecorded)
  try {
    await work(await notAhead(node))
  } catch (error) {
    await recordJobEnd(db, task, errorWords(error)).catch(onUnrecorded)
    throw error
  }
  await recordJobEnd(db, task, null).catch(onUnrecorded)
}

/**
 * The time from one turn to the next, an hour or a day. Only the most recent missed run is
 * backfilled.
 */
function periodOf(cron: string): number {
  return cron.split(' ')[1] === '*' ? HOUR_MS : DAY_MS
}

/**
 * A pool that tolerates a second release of a connection. graphile-worker releases its listening
 * connection twice if it breaks while the runner stops. The pool would throw in an unhandled
 * promise and end the process.
 */
function releasedOnce(pool: Pool): Pool {
  const connect = (callback?: Parameters<Pool['connect']>[0]) => {
    if (callback === undefined) return pool.connect()
    return pool.connect((error, client, release) => {
      let isOut = client !== undefined
      callback(error, client, (reason) => {
        if (isOut) release(reason)
        isOut = false
      })
    })
  }
  const query = pool.query.bind(pool)
  return Object.create(pool, { connect: { value: connect }, query: { value: query } })
}

/** Handles a runner's events: counts its jobs, and holds its locks while it listens. */
function runnerEvents(log: Node['log'], { worker, pools }: ScheduledWork): WorkerEvents {
  const events: WorkerEvents = new EventEmitter()
  const count = (pool: string, jobs: number) => pools.set(pool, (pools.get(pool) ?? 0) + jobs)
  events.on('job:start', (of) => count(of.worker.workerPool.id, 1))
  events.on('job:complete', (of) => count(of.worker.workerPool.id, -1))
  // After it listens. If this fails the connection is unusable, and it listens again on another.
  events.on('pool:listen:success', ({ workerPool, client }) => {
    const runners = [...pools.keys(), workerPool.id]
    client.once('drain', () => holdRunners(client, { worker, runners }).catch(() => undefined))
  })
  // For a rejected promise graphile-worker prints a stack trace to standard error, past the log.
  events.on('worker:create', (of) => {
    of.worker.promise = of.worker.promise.catch((error) =>
      log.warn({ schedule: `Worker exited with error: ${error}` }, 'schedule'),
    )
  })
  return events
}

/**
 * Fails the jobs of runners that ended without recording it, such as a nightly job during a
 * database outage. They are retried.
 */
async function failEnded(db: Db, pools: Pools): Promise<void> {
  const runners = [...pools].flatMap(([pool, underWay]) => (underWay === 0 ? [pool] : []))
  await failJobsOf(db, { runners, error: 'the database went away from it' })
}

/**
 * The node with a clock that is not ahead of the database. Deleted data and issued statements
 * cannot be undone.
 */
async function notAhead(node: Node): Promise<Node> {
  const aheadMs = await msAhead(node.database, node.now())
  return { ...node, now: () => node.now() - aheadMs }
}

/** Clears the jobs of runners that ended, which nobody else would. */
async function clearLeft({ database: db, log }: Node): Promise<void> {
  if (!(await areTablesThere(db))) return
  await forgetRunsAhead(db, CLOCK_STEP_MS)
  const runners = await listGoneRunners(db)
  const jobs = await failJobsOf(db, { runners, error: 'its process ended' })
  if (jobs > 0) log.info({ jobs }, 'requeued the jobs of a worker that died')
  await deleteCutShort(db)
}
