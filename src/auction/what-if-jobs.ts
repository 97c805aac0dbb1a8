/**
 * Days run again under other settings, as jobs: a day of a million auctions takes minutes. A caller
 * whose job ends soon gets its result at once, any other the URL of the job.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startPoller } from '../platform/concurrency/poller.ts'
import { ApiError } from '../platform/errors/api-errors.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import type { DayRuns } from './day-runs.ts'
import type { PublisherDay } from './receipt-store.ts'
import type { WhatIf } from './result-schema.ts'
import type { WhatIfChange } from './what-if.ts'
import { finishJob, insertJob, type JobProgress, updateJobs } from './what-if-job-store.ts'

/** A job that ends this long after its start is answered at once. */
const ANSWER_MS = 2_000
/** A job that has not started by then is answered with 202; a thread starts in 0.3 s. */
const START_MS = 10_000
const REPORT_MS = 2_000
/** Jobs of one caller that wait or run. */
const JOBS_OF_CALLER_MAX = 32

export interface WhatIfJobsOptions {
  readonly db: Database
  readonly days: DayRuns
  readonly now: () => Date
  readonly onError: (error: unknown) => void
}

interface Job extends JobProgress {
  readonly uid: number
  readonly started: PromiseWithResolvers<void>
}

export class WhatIfJobs {
  readonly #options: WhatIfJobsOptions
  readonly #jobs = new Set<Job>()
  readonly #ending = new Set<Promise<void>>()
  readonly #reports: NodeJS.Timeout

  constructor(options: WhatIfJobsOptions) {
    this.#options = options
    const { onError } = options
    this.#reports = startPoller(() => this.#report(), { everyMs: REPORT_MS, onError })
  }

  /** The result if it comes soon, else the id of the job that will have it. */
  async ask(
    uid: number,
    wanted: PublisherDay & { readonly change: WhatIfChange },
  ): Promise<{ readonly result: WhatIf } | { readonly jobId: string }> {
    const { db, now } = this.#options
    if ([...this.#jobs].filter((job) => job.uid === uid).length >= JOBS_OF_CALLER_MAX) {
      throw tooManyJobs()
    }
    const started = Promise.withResolvers<void>()
    const job: Job = { uid, jobId: '', state: 'waiting', auctions: 0, done: 0, started }
    this.#jobs.add(job)
    try {
      job.jobId = await insertJob(db, { uid, at: now() })
    } catch (error) {
      this.#jobs.delete(job)
      throw error
    }
    const running = this.#run(job, wanted)
    const ended = running.then(
      () => undefined,
      (error) => this.#options.onError(error), // The job itself says that it failed.
    )
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
    const result = await Promise.race([running, tooLate(job)])
    return result === null ? { jobId: job.jobId } : { result }
  }

  /** Once its days are closed: records which jobs failed by that. */
  async close(): Promise<void> {
    clearInterval(this.#reports)
    await Promise.all(this.#ending)
  }

  async #run(
    job: Job,
    { change, ...day }: PublisherDay & { readonly change: WhatIfChange },
  ): Promise<WhatIf> {
    const { db, days, now } = this.#options
    const onProgress = ({ auctions, done }: { auctions: number; done: number }) => {
      Object.assign(job, { state: 'running', auctions, done })
      job.started.resolve()
    }
    let result: WhatIf | null = null
    try {
      const run = { kind: 'whatIf', change } as const
      result = await days.run({ ...day, owner: `user ${job.uid}`, run, onProgress })
      return result
    } finally {
      this.#jobs.delete(job)
      await finishJob(db, job, { result, now: now() })
    }
  }

  /** Keeps the jobs of this node alive, and their progress known to all nodes. */
  async #report(): Promise<void> {
    const jobs = [...this.#jobs].filter(({ jobId }) => jobId !== '')
    if (jobs.length > 0) await updateJobs(this.#options.db, jobs, this.#options.now())
  }
}

/** Resolves with null when a job's caller has waited long enough. */
async function tooLate(job: Job): Promise<null> {
  await Promise.race([job.started.promise, sleep(START_MS, undefined, { ref: false })])
  if (job.state === 'running') await sleep(ANSWER_MS, undefined, { ref: false })
  return null
}

function tooManyJobs(): ApiError {
  const message = `At most ${JOBS_OF_CALLER_MAX} days of a caller wait or run; retry later`
  return new ApiError('rateLimited', {
    message,
    headers: {
      'retry-after': '10',
      'ratelimit-limit': String(JOBS_OF_CALLER_MAX),
      'ratelimit-remaining': '0',
      'ratelimit-reset': '10',
    },
  })
}
