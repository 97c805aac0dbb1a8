/** Runs a heavy job on a separate thread and returns its result. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Node } from '../node/node.ts'
import type { HeavyJobMessage, HeavyJobOrder } from './heavy-job-thread.ts'
import type { HEAVY_JOBS, HeavyJob } from './heavy-jobs.ts'

const THREAD = new URL('./heavy-job-thread.ts', import.meta.url)
/**
 * After four hours the schedules consider a job dead and start it again. A job that still waits
 * then, for a statement that never returns, must end, because places are few.
 */
const JOB_MS_MAX = 4 * 3_600_000 - 60_000

/** Resolves with the job's result. Rejects with its error. */
export async function runHeavyJob<Job extends HeavyJob>(
  { database, now, sealingKeys, config }: Pick<Node, 'database' | 'now' | 'sealingKeys' | 'config'>,
  job: Job,
  { limitMs = JOB_MS_MAX, input = null }: { limitMs?: number; input?: unknown } = {},
): Promise<Awaited<ReturnType<(typeof HEAVY_JOBS)[Job]>>> {
  const { connection } = database
  const { allowPrivateFetch, retentionDays, baseUrl } = config
  const order = { nowMs: now(), keys: sealingKeys, allowPrivateFetch, retentionDays, baseUrl }
  const workerData: HeavyJobOrder = { job, connection, ...order, input }
  // Without this process's flags: a test runner's flags mean nothing to the thread.
  const thread = new Worker(THREAD, { workerData, execArgv: [] })
  const ended = once(thread, 'exit') // Rejects with an error of the thread.
  let result: unknown
  // Under `node --watch` Node also reports the thread's files by this event.
  thread.on('message', (message: HeavyJobMessage | { readonly result?: never }) => {
    if ('result' in message) result = message.result
  })
  // A stop does not wait for a nightly job, which the next start runs again. Adding a message
  // listener refs the thread again, so this comes last.
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
