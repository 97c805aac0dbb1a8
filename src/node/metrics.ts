/** Every metric of a process: names, help and labels as in `/metrics`. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { listLanesBehind } from '../fold/lane-store.ts'
import { countUnfolded } from '../fold/unfolded-store.ts'
import { withTimeout } from '../platform/concurrency/timeout.ts'
import type { Answer } from '../platform/http/hot-http.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { latestReconciliation } from '../reconcile/reconciliation-store.ts'

/** A monitoring system times out after about ten seconds, and would lose all other metrics. */
const ASK_TIMEOUT_MS = 2_000

export type Metrics = ReturnType<typeof makeMetrics>

export interface MetricsOptions {
  readonly db: Db
  readonly now: () => number
  /** A worker asks the database for the backlog, which costs tens of milliseconds. */
  readonly isWorker: boolean
}

export function makeMetrics(options: MetricsOptions) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[] = []) =>
    new Counter<T>({ name, help, labelNames: [...labelNames], registers })
  if (options.isWorker) watchFigures(registry, options)
  const appended = counter(
    'souk_events_total',
    'Events not taken at once: spooled, drained into the log, refused by it for good, unavailable.',
    ['outcome'],
  )
  const went = (outcome: string) => {
    appended.inc({ outcome }, 0) // A counter that appears with its first event has not grown.
    return (events: number) => appended.inc({ outcome }, events)
  }
  return {
    registry,
    append: {
      spooled: went('spooled'),
      drained: went('drained'),
      refused: went('refused'),
      unavailable: went('unavailable'),
    },
    receiptsDropped: counter(
      'souk_receipts_dropped_total',
      'Receipts dropped: the queue was full.',
    ),
    ...linkCounters(counter),
    leftOut: counter(
      'souk_left_out_rows_total',
      'Rows that a storage quota kept out of the database, by kind: souk doctor says whose.',
      ['kind'],
    ),
    orderWarnings: counter(
      'souk_order_warnings_total',
      'Warnings about orders and returns that were accepted, by merchant and kind.',
      ['merch_id', 'kind'],
    ),
    unrecordedClicks: counter('souk_unrecorded_clicks_total', 'Clicks that nothing could record.'),
    localClicks: counter(
      'souk_local_address_clicks_total',
      'Clicks to be paid whose address is loopback, private or link-local: check TRUSTED_PROXIES.',
    ),
    folded: counter('souk_folded_events_total', 'Events folded.', ['lane']),
    foldLag: new Gauge({
      name: 'souk_fold_lag_seconds',
      help: 'Age of the last event folded, by lane, when it was folded.',
      labelNames: ['lane'],
      registers,
    }),
    webhooksDelivered: counter('souk_webhook_deliveries_total', 'Webhook deliveries that arrived.'),
    webhooksDisabled: counter('souk_webhooks_disabled_total', 'Webhooks switched off.'),
    answered: answerTimer(registers),
  }
}

function linkCounters(counter: (name: string, help: string) => Counter) {
  return {
    unattributedRedirects: counter(
      'souk_unattributed_redirects_total',
      'Wrapper redirects that name no known publisher: souk link unattributed lists them.',
    ),
    linksLeftOut: counter(
      'souk_linkmate_links_left_out_total',
      'New links refused: the hourly limit of calls without a key, or of wrappers.',
    ),
  }
}

/**
 * A stopped fold reports nothing itself, and a process does not know what another one found. So
 * these come from the database.
 */
function watchFigures(registry: Registry, { db, now }: MetricsOptions): void {
  const asked = (name: string, help: string, ask: () => Promise<number>) => {
    const gauge: Gauge = new Gauge({
      ...{ name, help, registers: [registry] },
      collect: async () => {
        const value = await withTimeout(ask(), ASK_TIMEOUT_MS).catch(() => Number.NaN)
        gauge.set(value)
      },
    })
  }
  asked(
    'souk_fold_waiting_seconds',
    'Age of the oldest event that is in no figure yet; 0: none waits; NaN: no answer.',
    async () => {
      const since = (await listLanesBehind(db)).map((lane) => lane.waiting_since.getTime())
      return Math.max(0, now() - Math.min(now(), ...since)) / 1_000
    },
  )
  asked('souk_unfolded_events', 'Events set aside: souk doctor says why.', () => countUnfolded(db))
  const reconciled = () => latestReconciliation(db, new Date(now()))
  asked(
    'souk_reconcile_differences',
    'Figures that the last nightly reconciliation found to differ from the event log.',
    async () => (await reconciled())?.differences ?? 0,
  )
  asked(
    'souk_reconcile_timestamp_seconds',
    'When the last nightly reconciliation began; 0: none yet.',
    async () => ((await reconciled())?.at.getTime() ?? 0) / 1_000,
  )
}

/** Response times, also of the hot path, so the labels are looked up once per pair. */
function answerTimer(registers: Registry[]): (answer: Answer) => void {
  const histogram = new Histogram({
    name: 'souk_request_seconds',
    help: 'Time to answer, by route and status class.',
    labelNames: ['route', 'status'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  })
  const timers = new Map<string, Histogram.Internal<'route' | 'status'>[]>()
  return ({ route, status, seconds }) => {
    const ofRoute = timers.getOrInsert(route, [])
    const digit = Math.trunc(status / 100)
    ofRoute[digit] ??= histogram.labels(route, `${digit}xx`)
    ofRoute[digit].observe(seconds)
  }
}
