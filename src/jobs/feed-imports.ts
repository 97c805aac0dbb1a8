/** Imports of feeds that callers of the API start: each on a thread, a few at a time. */
import { RecordedRun } from '../catalog/feeds/record-import.ts'
import type { FeedImportOrder } from '../catalog/feeds/run-feed-import.ts'
import type { Node } from '../node/node.ts'
import { ConcurrencyLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import { errorLogger } from '../platform/process/log.ts'
import { runHeavyJob } from './run-heavy-job.ts'

/** Each takes one processor, which readers need too, and three connections. */
const IMPORTS_AT_ONCE = 2

/** Starts imports of this node in the order of their requests. The caller does not wait. */
export function feedImports(node: Node): (order: FeedImportOrder) => void {
  const limiter = new ConcurrencyLimiter(IMPORTS_AT_ONCE)
  const onError = errorLogger(node.log, 'a feed was not imported')
  return (order) => {
    const waiting = new RecordedRun(node.database, order.importId, 'waiting')
    const work = async () => {
      waiting.handOver()
      await runHeavyJob(node, 'importFeed', { input: order })
    }
    limiter.run(work).catch(onError)
  }
}
