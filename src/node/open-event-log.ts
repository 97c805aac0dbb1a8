/** Opens the event log of this installation: JetStream with NATS_URL, otherwise PostgreSQL. */

import type { EventLog } from '../events/event-log.ts'
import { readInstallation } from '../platform/postgres/node-registry.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import type { Config } from './config.ts'

/** Opens the log. Loads the NATS client only if it is used. */
export async function openEventLog(
  { natsUrl, roles }: Pick<Config, 'natsUrl' | 'roles'>,
  database: Database,
  onProblem: (error: unknown) => void,
): Promise<EventLog> {
  const { connection } = database
  if (natsUrl === null) {
    const { openPostgresEventLog } = await import('../events/event-log-postgres.ts')
    return openPostgresEventLog(connection)
  }
  const { openJetStreamEventLog } = await import('../events/jetstream/event-log-jetstream.ts')
  const installation = await readInstallation(database)
  const isCarrier = roles.has('worker')
  return openJetStreamEventLog({ natsUrl, installation, connection, isCarrier, onProblem })
}
