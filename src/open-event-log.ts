/** The event log of this installation: the one of NATS_URL, else the one in PostgreSQL. */
import type { Config } from './config.ts'
import type { EventLog } from './events/event-log.ts'
import type { Database } from './platform/postgres.ts'

/** Opens the log; the NATS client is loaded only where it is used. */
export async function openEventLog(
  { natsUrl, roles }: Pick<Config, 'natsUrl' | 'roles'>,
  { connection }: Database,
  onProblem: (error: unknown) => void,
): Promise<EventLog> {
  if (natsUrl === null) {
    const { openPostgresEventLog } = await import('./events/event-log-postgres.ts')
    return openPostgresEventLog(connection)
  }
  const { openJetStreamEventLog } = await import('./events/event-log-jetstream.ts')
  return openJetStreamEventLog({ natsUrl, connection, isCarrier: roles.has('worker'), onProblem })
}
