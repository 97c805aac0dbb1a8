/**
 * Runs what is done by the clock, with graphile-worker: of many workers one does each job, and one
 * that failed is tried again.
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
import type { Node } from './node.ts'
import { ClockSteps } from './platform/clock-steps.ts'
import { msAhead } from './platform/database-clock.ts'
import { errorTeller } from './platform/log.ts'
import { withPatience } from './platform/patience.ts'
import type { Db } from './platform/postgres.ts'
import { startPulse } from './platform/pulse.ts'
import { DAY_MS, HOUR_MS } from './platform/timestamp.ts'
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

/** A night's reconciliation must not keep the minute's webhooks waiting. */
const JOBS_AT_ONCE = 4
/** After a runner that ended: what ended it may need a moment to pass. */
const RETRY_MS = 1_000
const CLOCK_CHECK_MS = 1_000
/** What a killed worker, or one whose clock is ahead, leaves must not hold others up for long. */
const LEFT_CHECK_MS = 60_000
/** A clock that is set by more was wrong, or stood; clocks of nodes may differ by some minutes. */
const CLOCK_STEP_MS = 600_000
/** A stop has ten seconds, and its last words in the log come after these. */
const LAST_JOBS_MS = 1_000
const GIVE_BACK_MS = 1_000

export const RUNNER_ENDED = 'the schedules ended: starting them again'

/**
 * Starts the schedules on this node's pool, and again whenever its runner ends by itself or the
 * clock has jumped. After a machine slept, a runner that goes on does every minute of it, each job
 * as often as it was due; after a clock was set back, none until it comes to where it was.
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
      // A job under way goes on beside the next runner, which does not wait for hours for it.
      void runner.stop().catch(() => undefined)
      runner = (await startAgain(node, { ...work, signal })) ?? runner
    }
  })()
  return {
    close: async () => {
      stopping.abort()
      clearInterval(clock)
      clearInterval(left)
      // Jobs under way are not waited for: another node, or the next start, does them again.
      await withPatience(runner.stop(), LAST_JOBS_MS).catch(() => undefined)
      const given = releaseJobsOf(node.database, [...pools.keys()])
      await withPatience(given, GIVE_BACK_MS).catch(() => undefined)
    },
  }
}

/**
 * Its log has said why. A runner that could not write a job's end down takes no more jobs, but does
 * not come to its own end where another job's end is written after that, or where one works on. One
 * that could not ask for its tasks' numbers keeps that very failure, and asks no more.
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

/** As often as it takes; null when it is told to stop meanwhile. */
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

/** Under which of this process's names jobs were begun, and how many of each are under way. */
type Pools = Map<string, number>

interface ScheduledWork {
  readonly schedules: readonly Schedule[]
  readonly worker: string // by which others know that this process lives
  /** Added to. */
  readonly pools: Pools
}

async function startRunner(node: Node, work: ScheduledWork): Promise<Runner> {
  const { schedules, pools } = work
  await clearLeft(node)
  await failEnded(node.database, pools)
  const taskList: TaskList = Object.fromEntries(
    schedules.map(({ task, work }) => [task, async () => void (await work(await notAhead(node)))]),
  )
  const items = schedules.map(
    ({ task, cron, isMadeUpFor = false }): CronItem => ({
      task,
      match: cron,
      // One that fails is tried again until its next turn, which takes its place: else those of
      // every turn would come together, take all the places, and keep the other schedules waiting.
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
    // In batches, be they of one: a job whose end cannot be written down then ends the runner. By
    // itself each is a promise that nobody waits for, and ends the process, with all its readers.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    logger: new Logger(() => (level, message) => {
      // Its daily business is nobody's news; what failed is.
      if (level === 'error' || level === 'warning') node.log.warn({ schedule: message }, 'schedule')
      else node.log.debug({ schedule: message }, 'schedule')
    }),
  })
}

/** From one turn to the next, an hour or a day: the last alone is made up for. */
function periodOf(cron: string): number {
  return cron.split(' ')[1] === '*' ? HOUR_MS : DAY_MS
}

/**
 * The pool, whose connections may be given back twice. graphile-worker does so with the one that it
 * listens on, where that breaks as it begins to and its runner stops, as in one outage; the pool
 * would throw then, in a promise that nobody waits for, and that would end the process.
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

/** A runner's news: its jobs are counted, and they are held for as long as it hears of new ones. */
function runnerEvents(log: Node['log'], { worker, pools }: ScheduledWork): WorkerEvents {
  const events: WorkerEvents = new EventEmitter()
  const count = (pool: string, jobs: number) => pools.set(pool, (pools.get(pool) ?? 0) + jobs)
  events.on('job:start', (of) => count(of.worker.workerPool.id, 1))
  events.on('job:complete', (of) => count(of.worker.workerPool.id, -1))
  // Once it listens. Where that fails the connection is no good: it does both anew on another.
  events.on('pool:listen:success', ({ workerPool, client }) => {
    const runners = [...pools.keys(), workerPool.id]
    client.once('drain', () => holdRunners(client, { worker, runners }).catch(() => undefined))
  })
  // Of one that rejects graphile-worker writes a trace on standard error, past the log.
  events.on('worker:create', (of) => {
    of.worker.promise = of.worker.promise.catch((error) =>
      log.warn({ schedule: `Worker exited with error: ${error}` }, 'schedule'),
    )
  })
  return events
}

/**
 * What runners that ended still hold, with no job under way, is over, but they could not write that
 * down: a night's work that the database went away from. It is tried again when that is back.
 */
async function failEnded(db: Db, pools: Pools): Promise<void> {
  const runners = [...pools].flatMap(([pool, underWay]) => (underWay === 0 ? [pool] : []))
  await failJobsOf(db, { runners, error: 'the database went away from it' })
}

/**
 * The node with a clock that is not ahead of the database's: what is forgotten, or issued as a
 * month's statement, by one that is ahead of the world does not come back.
 */
async function notAhead(node: Node): Promise<Node> {
  const aheadMs = await msAhead(node.database, node.now())
  return { ...node, now: () => node.now() - aheadMs }
}

/** What runners that ended have left, and nobody else would clear. */
async function clearLeft({ database: db, log }: Node): Promise<void> {
  if (!(await areTablesThere(db))) return
  await forgetRunsAhead(db, CLOCK_STEP_MS)
  const runners = await listGoneRunners(db)
  const jobs = await failJobsOf(db, { runners, error: 'its process ended' })
  if (jobs > 0) log.info({ jobs }, 'what a worker had begun that is gone will be done again')
  await deleteCutShort(db)
}
