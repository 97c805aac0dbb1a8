/** Runs a heavy job on a thread of its own, and hears what it gives back. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { HeavyJobNews, HeavyJobOrder } from './heavy-job-thread.ts'
import type { HEAVY_JOBS, HeavyJob } from './heavy-jobs.ts'
import type { Node } from './node.ts'

const THREAD = new URL('./heavy-job-thread.ts', import.meta.url)
/**
 * After four hours the schedules take a job for one whose process died, and begin it again. Whoever
 * still waits then, for a statement that is never answered, must let go: places are few.
 */
const JOB_MS_MAX = 4 * 3_600_000 - 60_000

/** Resolves with the job's result; rejects with what broke it. */
export async function runHeavyJob<Job extends HeavyJob>(
  { database, now, sealingKeys, config }: Pick<Node, 'database' | 'now' | 'sealingKeys' | 'config'>,
  job: Job,
  { limitMs = JOB_MS_MAX } = {},
): Promise<Awaited<ReturnType<(typeof HEAVY_JOBS)[Job]>>> {
  const { connection } = database
  const { allowPrivateFetch, retentionDays } = config
  const order = { nowMs: now(), keys: sealingKeys, allowPrivateFetch, retentionDays }
  const workerData: HeavyJobOrder = { job, connection, ...order }
  // Without the flags of this process: a test runner's mean nothing to the thread.
  const thread = new Worker(THREAD, { workerData, execArgv: [] })
  const ended = once(thread, 'exit') // Rejects with what broke the thread, should anything.
  let result: unknown
  // Under `node --watch` Node tells by the same way which files the thread loads.
  thread.on('message', (news: HeavyJobNews | { readonly result?: never }) => {
    if ('result' in news) result = news.result
  })
  // A stop does not wait for a night's work: the next start does it again. Listening to what a
  // thread tells waits for it again, so this comes last.
  thread.unref()
  let isLate = false
  const limit = setTimeout(() => {
    isLate = true
    void thread.terminate()
  }, limitMs)
  limit.unref()
  await ended.finally(() => clearTimeout(limit))
  if (isLate) throw new Error(`${job} did not end within ${limitMs / 60_000} minutes`)
  return result as Awaited<ReturnType<(typeof HEAVY_JOBS)[Job]>>
}
