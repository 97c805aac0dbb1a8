/**
 * The event log with JetStream in front of it: an append is durable once the stream has it.
 *
 * The stream absorbs bursts and survives the loss of a machine. The log itself stays the table in
 * PostgreSQL, into which a worker copies the stream (event-log-carrier.ts). So there is one order,
 * one place that drops retries, and one table that reconcile reads, with or without JetStream. An
 * installation may start using it at any time and stop once everything is copied.
 */
import { hash } from 'node:crypto'
import { GroupCommit } from '../../platform/concurrency/group-commit.ts'
import type { Connection } from '../../platform/postgres/postgres.ts'
import type { LogEvent } from '../event.ts'
import { refusalOf } from '../event-fields.ts'
import { eventToJson } from '../event-json.ts'
import { type EventLog, EventRefused } from '../event-log.ts'
import { openPostgresEventLog } from '../event-log-postgres.ts'
import { EventLogCarrier } from './event-log-carrier.ts'
import { EventStream } from './event-stream.ts'

/** One message per event would cost more than the events; larger messages gain little. */
const MESSAGE_EVENTS_MAX = 100
/** Messages in flight: an answer takes about as long as the server's disk. */
const WRITER_COUNT = 4
const MAX_QUEUED_EVENTS = 20_000
/** An installation has its own NATS server or account. */
export const STREAM_NAME = 'SOUK'

export interface JetStreamLogOptions {
  readonly natsUrl: string
  readonly installation: string
  readonly connection: Connection
  /** Whether this process may copy the stream into the log. */
  readonly isCarrier: boolean
  readonly onProblem: (error: unknown) => void
}

/** Opens the log. If JetStream or the database is down, appends or reads reject. */
export async function openJetStreamEventLog(options: JetStreamLogOptions): Promise<EventLog> {
  const { natsUrl, installation, connection, onProblem } = options
  const streamName = STREAM_NAME
  const stream = await EventStream.open({ natsUrl, streamName, installation })
  // A wrong password shows at the start, not at the first click.
  const problem = stream.problem()
  if (problem !== null) onProblem(problem)
  const table = openPostgresEventLog(connection)
  const commits = new GroupCommit<LogEvent>({
    writers: Array.from({ length: WRITER_COUNT }, () => (events) => publish(stream, events)),
    maxBatchItems: MESSAGE_EVENTS_MAX,
    maxQueuedItems: MAX_QUEUED_EVENTS,
  })
  const carrier = options.isCarrier
    ? new EventLogCarrier({ stream, streamName, connection, onProblem, onCarried: table.hint })
    : null

  return {
    async append(events) {
      for (const event of events) {
        const reason = refusalOf(event)
        if (reason !== null) throw new EventRefused(reason)
      }
      for (let start = 0; start < events.length; start += MESSAGE_EVENTS_MAX) {
        await commits.add(events.slice(start, start + MESSAGE_EVENTS_MAX))
      }
    },
    read: table.read,
    onAppended: table.onAppended,
    isUnreachable: () => stream.isUnreachable(),
    async close() {
      await commits.close()
      await carrier?.close()
      await stream.close()
      await table.close()
    },
  }
}

/** One message per lane, each with its events in order. */
async function publish(stream: EventStream, events: readonly LogEvent[]): Promise<void> {
  const lanes = Map.groupBy(events, ({ lane }) => lane)
  await Promise.all(
    [...lanes].map(([lane, ofLane]) => {
      const messageId = hash('sha256', ofLane.map(({ id }) => id).join(), 'base64url')
      const payload = Buffer.from(ofLane.map(eventToJson).join('\n'))
      return stream.publish(lane, payload, messageId)
    }),
  )
}
