/** One heavy job on a thread of its own, with connections of its own (run-heavy-job.ts). */
import { parentPort, workerData } from 'node:worker_threads'
import { HEAVY_JOBS, type HeavyJob, type HeavyWork } from './heavy-jobs.ts'
import { type Connection, openDatabase } from './platform/postgres.ts'

/** What the thread is given. */
export interface HeavyJobOrder extends Omit<HeavyWork, 'db'> {
  readonly job: HeavyJob
  readonly connection: Connection
}

/** What the thread tells. */
export interface HeavyJobNews {
  readonly result: unknown
}

const { job, connection, keys, ...order } = workerData as HeavyJobOrder
// Nobody waits for a night's work: its statements may take as long as they need.
const db = openDatabase({ connection, applicationName: 'souk: heavy job', statementTimeoutMs: 0 })
try {
  // Buffers arrive as plain bytes.
  const own = keys.map(({ id, key }) => ({ id, key: Buffer.from(key) }))
  const news: HeavyJobNews = { result: await HEAVY_JOBS[job]({ ...order, db, keys: own }) }
  parentPort?.postMessage(news)
} finally {
  await db.close()
}
