/** The health of the network: checks, nodes, the fold, and events that could not be counted. */
import { useQuery } from '@tanstack/react-query'
import { count, date, time } from '../format.ts'
import { type Health, network } from '../network-api.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { Icon } from '../ui/icon.tsx'
import { Progress } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { Sums } from '../ui/sums.tsx'
import { Table } from '../ui/table.tsx'
import { HealthHistory } from './network-health-history.tsx'

const REFRESH_MS = 10_000

export function HealthPage() {
  const health = useQuery({
    queryKey: ['network', 'health'],
    queryFn: network.health,
    refetchInterval: REFRESH_MS,
  })
  return (
    <div className="space-y-6">
      <PageHead
        title="Health"
        purpose="The state of every node and of the event log. It updates every 10 seconds."
      />
      <Progress query={health} />
      {health.data !== undefined && <State health={health.data} />}
      <HealthHistory />
      <CommandLine
        commands={[
          { does: 'Run the same checks; exits with 1 after a failure', line: 'souk doctor' },
        ]}
      />
    </div>
  )
}

function State({ health }: { health: Health }) {
  const { checks, nodes, fold, unfolded_events: aside, datetime_checked: at } = health
  const failed = checks.filter(({ is_ok }) => !is_ok).length
  return (
    <>
      <Sums
        sums={[
          {
            name: 'Checks',
            value: failed === 0 ? 'All good' : `${count(failed)} failed`,
            note: `${count(checks.length)} checks at ${time(at)} UTC`,
          },
          {
            name: 'Fold lag',
            value: `${count(Math.round(fold.lag_seconds))} s`,
            note: 'age of the oldest event without figures',
          },
          {
            name: 'Events waiting',
            value: count(fold.events_waiting),
            note: 'events of the log that have no figures yet',
          },
          {
            name: 'Set aside',
            value: count(aside.length),
            note: 'events that could not be folded',
          },
        ]}
      />
      <Checks checks={checks} />
      <Nodes nodes={nodes} />
      {aside.length > 0 && <Aside events={aside} />}
    </>
  )
}

function Checks({ checks }: { checks: Health['checks'] }) {
  // Failures first; otherwise in the order of the service.
  const sorted = checks.toSorted((one, other) => Number(one.is_ok) - Number(other.is_ok))
  return (
    <section aria-labelledby="checks" className="space-y-2">
      <h2 id="checks">Checks</h2>
      <ul className="panel divide-y divide-line">
        {sorted.map(({ name, is_ok, detail }) => (
          <li key={name} className="flex gap-3 px-4 py-2 text-sm">
            <span className={`mt-0.5 ${is_ok ? 'text-accent' : 'text-bad'}`}>
              <Icon name={is_ok ? 'check' : 'alert'} />
            </span>
            <div className="min-w-0 sm:flex sm:gap-4">
              <p className="shrink-0 font-medium sm:w-36">
                {name}
                {!is_ok && <span className="sr-only"> failed</span>}
              </p>
              <p className={`min-w-0 wrap-anywhere ${is_ok ? 'text-soft' : ''}`}>{detail}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

type Node = Health['nodes'][number]

function Nodes({ nodes }: { nodes: Health['nodes'] }) {
  return (
    <div className="space-y-2">
      <h2>Nodes</h2>
      <div className="panel overflow-hidden">
        <Table
          label="Nodes"
          rows={nodes}
          keyOf={({ node_id }) => node_id}
          name={{
            head: 'Node',
            className: 'min-w-32 font-medium wrap-anywhere',
            cell: ({ node_id, host }) => (
              <>
                {node_id} · <bdi>{host}</bdi>
              </>
            ),
          }}
          columns={NODE_COLUMNS}
        />
      </div>
    </div>
  )
}

const stateOf = ({ is_alive, is_spool_empty }: Node): string => {
  if (is_alive) return 'Running'
  return is_spool_empty ? 'Ended' : 'Ended with events on its disk'
}

const NODE_COLUMNS = [
  { head: 'State', cell: (node: Node) => stateOf(node) },
  { head: 'Roles', cell: ({ roles }: Node) => roles.join(', ') },
  {
    head: 'Started',
    cell: ({ datetime_started: at }: Node) => `${date(at)}, ${time(at)}`,
  },
  {
    head: 'Last heartbeat',
    cell: ({ datetime_heartbeat: at }: Node) => (at === null ? '–' : `${time(at)} UTC`),
  },
]

function Aside({ events }: { events: Health['unfolded_events'] }) {
  return (
    <section aria-labelledby="aside" className="space-y-2">
      <h2 id="aside">Events that could not be folded</h2>
      <p className="text-sm text-soft">
        Their figures are missing. Each start of a worker tries them again.
      </p>
      <ul className="panel divide-y divide-line">
        {events.map(({ event_id, lane, day, error }) => (
          <li key={event_id} className="space-y-1 px-4 py-2.5 text-sm">
            <p className="font-medium">
              Event {event_id} of {date(day)}, lane {lane}
            </p>
            <p className="wrap-anywhere text-bad">{error}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}
