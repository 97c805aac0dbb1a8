/** Runs one heavy job on a separate thread with its own connections (run-heavy-job.ts). */
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openDatabase } from '../platform/postgres/postgres.ts'
import { HEAVY_JOBS, type HeavyJob, type HeavyWork } from './heavy-jobs.ts'

/** The thread's input. */
export interface HeavyJobOrder extends Omit<HeavyWork, 'db'> {
  readonly job: HeavyJob
  readonly connection: Connection
}

/** The thread's message. */
export interface HeavyJobMessage {
  readonly result: unknown
}

const { job, connection, keys, ...order } = workerData as HeavyJobOrder
// Nobody waits for a nightly job, so its statements have no time limit.
const db = openDatabase({ connection, applicationName: 'souk: heavy job', statementTimeoutMs: 0 })
try {
  // Buffers arrive as plain bytes.
  const own = keys.map(({ id, key }) => ({ id, key: Buffer.from(key) }))
  const message: HeavyJobMessage = { result: await HEAVY_JOBS[job]({ ...order, db, keys: own }) }
  parentPort?.postMessage(message)
} finally {
  await db.close()
}
