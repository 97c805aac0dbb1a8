/** The health of the network: the checks of `souk doctor`, nodes, fold, and events set aside. */
import Type from 'typebox'
import { sliceOf } from '../accounts/id-pages.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { MONEY_LANE } from '../events/event.ts'
import { EVENTS_COUNTED_MAX, listHealthSamples } from '../fold/health-sample-store.ts'
import { countBehind, listLanesBehind } from '../fold/lane-store.ts'
import type { Node } from '../node/node.ts'
import { orNull, Time, TimeOrNull } from '../platform/http/field-types.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { checkHealth } from './health-checks.ts'
import { listAside, listNodes } from './health-store.ts'

const ASIDE_SHOWN = 100

export const HealthRecord = Type.Object({
  is_ok: Type.Boolean({ description: 'Whether every check is ok' }),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      is_ok: Type.Boolean(),
      detail: Type.String({ description: 'The observation, and the fix' }),
    }),
    { description: 'Disk, spool and secrets are those of the node that answers' },
  ),
  nodes: Type.Array(
    Type.Object({
      node_id: Type.Integer(),
      host: Type.String(),
      roles: Type.Array(Type.String()),
      is_alive: Type.Boolean(),
      is_spool_empty: Type.Boolean({
        description: 'False while it runs, and when it ended with events not in the log yet',
      }),
      datetime_started: Time,
      datetime_heartbeat: orNull(Time, 'Null: it has ended'),
    }),
  ),
  fold: Type.Object({
    lag_seconds: Type.Number({ description: 'Age of the oldest event that is not folded yet' }),
    events_waiting: Type.Integer({ description: 'At most 100,000 are counted' }),
    lanes: Type.Array(
      Type.Object({ lane: Type.Integer(), is_money: Type.Boolean(), waiting_since: Time }),
      { description: 'Lanes with events that are not folded yet' },
    ),
  }),
  unfolded_events: Type.Array(
    Type.Object({
      event_id: Type.String(),
      lane: Type.Integer(),
      day: Type.String({ format: 'date' }),
      error: Type.String(),
      datetime_created: TimeOrNull,
    }),
    { description: 'Events that could not be folded, at most 100; each start tries them again' },
  ),
  datetime_checked: Time,
})

type HealthNode = Pick<Node, 'config' | 'database' | 'now'>

const readHealth = ({ config, database, now: clock }: HealthNode) =>
  action({
    id: 'readHealth',
    tag: 'network',
    method: 'GET',
    path: '/api/v1/network/health/',
    summary: 'The health of the network',
    permission: 'network.read',
    entry: HealthRecord,
    run: async ({ db, now }) => {
      const storage = { db: database, connection: database.connection }
      const context = { config, storage: async () => storage, now: () => new Date(clock()) }
      const { ok, checks } = await checkHealth(context)
      return [
        {
          is_ok: ok,
          checks: checks.map(({ ok: is_ok, ...check }) => ({ ...check, is_ok })),
          nodes: await readNodes(db),
          fold: await readFold(db, now),
          unfolded_events: (await listAside(db, ASIDE_SHOWN)).map(({ at, ...event }) => ({
            ...event,
            datetime_created: formatTimestamp(at),
          })),
          datetime_checked: formatTimestamp(now),
        },
      ]
    },
  })

export const HealthSampleRecord = Type.Object({
  at: Time,
  lag_seconds: Type.Number({ description: 'Age of the oldest event that was not folded yet' }),
  events_waiting: Type.Integer({ description: 'At most 100,000 are counted' }),
  nodes_alive: Type.Integer(),
})

const listHealthHistory = list({
  id: 'listHealthHistory',
  tag: 'network',
  path: '/api/v1/network/health/history/',
  summary: 'The state of the fold over the last day, oldest first',
  description: 'A worker takes a sample every five minutes and deletes it after a day.',
  permission: 'network.read',
  entry: HealthSampleRecord,
  run: async ({ db, query, now }) => {
    const samples = await listHealthSamples(db, now)
    return sliceOf(
      samples.map(({ at, ...sample }) => ({ ...sample, at: formatTimestamp(at) })),
      query,
    )
  },
})

export const healthOperations = (node: HealthNode): Operation[] => [
  readHealth(node),
  listHealthHistory,
]

async function readNodes(db: Db) {
  return (await listNodes(db)).map(({ started_at, heartbeat_at, roles, ...node }) => ({
    ...node,
    roles: roles.split(','),
    datetime_started: formatTimestamp(started_at),
    datetime_heartbeat: formatTimestampOrNull(heartbeat_at),
  }))
}

async function readFold(db: Db, now: Date) {
  const behind = await listLanesBehind(db)
  const oldestMs = Math.min(now.getTime(), ...behind.map(({ waiting_since: at }) => at.getTime()))
  return {
    lag_seconds: (now.getTime() - oldestMs) / 1000,
    events_waiting: behind.length === 0 ? 0 : await countBehind(db, EVENTS_COUNTED_MAX),
    lanes: behind.map(({ lane, waiting_since }) => ({
      lane,
      is_money: lane === MONEY_LANE,
      waiting_since: formatTimestamp(waiting_since),
    })),
  }
}
