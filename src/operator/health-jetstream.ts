/** `souk doctor`: the event stream where NATS_URL is set. */
import { formatError } from '../platform/errors/format-error.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { readInstallation } from '../platform/postgres/node-registry.ts'
import {
  bad,
  type Finding,
  good,
  type HealthContext,
  isMigrated,
  LAG_MAX_MS,
} from './health-finding.ts'
import { isAnyServerAlive, readStreamPosition } from './health-store.ts'

const NO_STREAM =
  'no stream, though a server runs: does it have this NATS_URL? Its log says why none can be ' +
  'made; a cluster needs three servers with JetStream'

/** Without it events wait in the spool: nothing is lost, and nothing is counted. */
export async function checkJetStream(
  context: Pick<HealthContext, 'storage' | 'now'>,
  natsUrl: string,
): Promise<Finding> {
  const { STREAM_NAME: streamName } = await import('../events/jetstream/event-log-jetstream.ts')
  const { readStreamFacts } = await import('../events/jetstream/event-stream.ts')
  const { db } = await context.storage()
  const isKnown = await isMigrated(db)
  const positionOf = async (created: string) =>
    isKnown ? readStreamPosition(db, { streamName, created }) : 0
  // An unmigrated database may not have the installation's id.
  const installation = isKnown ? await readInstallation(db) : null
  const facts = await readStreamFacts({ natsUrl, streamName, installation }, positionOf).catch(
    (cause: unknown) => {
      if (cause instanceof Refusal) throw cause
      const fix =
        'does its server run with JetStream, is it reached from here, and does it take the name ' +
        'and password? Events wait in the spools meanwhile'
      throw new Error(`NATS_URL: JetStream is away (${formatError(cause)}): ${fix}`, { cause })
    },
  )
  if (facts === null) {
    const isMissed = isKnown && (await isAnyServerAlive(db))
    return isMissed ? bad(NO_STREAM) : good('no stream yet: the first start makes it')
  }
  const { messages, replicas, isFull, mayPublish, waiting } = facts
  const held = `stream ${streamName}: ${messages} messages, ${replicas} replicas`
  if (!mayPublish) {
    const fix = `let it publish to souk.event.${streamName}.*; events wait in the spools meanwhile`
    return bad(`${held}, to which the user of NATS_URL may add none: ${fix}`)
  }
  if (isFull) {
    const fix = 'raise its max_bytes to a week of events, which wait in the spools meanwhile'
    return bad(`${held}, and it is full: ${fix}`)
  }
  if (waiting === null) return good(held)
  const detail = `${held}, ${waiting.messages} not in the log yet`
  const isFresh = context.now().getTime() - waiting.since.getTime() <= LAG_MAX_MS
  if (isFresh) return good(detail)
  if (!(await isAnyServerAlive(db))) return good(`${detail}: no server runs`)
  return bad(`${detail}: does a process with the role worker and NATS_URL run?`)
}
