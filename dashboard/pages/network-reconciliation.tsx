/** Comparisons of all figures with the event log, and their differences. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { count, date, time } from '../format.ts'
import { network, type Reconciliation } from '../network-api.ts'
import { useCan } from '../organization.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { PageHead, ReadOnlyNote } from '../ui/page-head.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { JOBS } from './network-jobs.tsx'
import { useRefresh } from './network-record.tsx'

const JOB = 'reconcile'
/** While it runs, the page asks for its state this often. */
const WATCH_MS = 1_000

export function ReconciliationPage() {
  const runs = usePages(['network', 'reconciliations'], network.reconciliations)
  const rows = runs.data?.pages.flatMap((page) => page.rows)
  return (
    <div className="space-y-4">
      <PageHead
        title="Reconciliation"
        purpose="Every night, a worker computes the figures of the last days again from the event log and compares them."
      >
        {useCan('network.write') && <RunNow />}
      </PageHead>
      <ReadOnlyNote permission="network.write" action="start a reconciliation" />
      <Progress query={runs} />
      {rows?.length === 0 && (
        <EmptyState title="No reconciliation yet">
          The first one runs tonight. An admin can start one now.
        </EmptyState>
      )}
      {rows !== undefined && rows.length > 0 && (
        <ol className="panel divide-y divide-line">
          {rows.map((run) => (
            <Run key={run.datetime_created} run={run} />
          ))}
        </ol>
      )}
      <NextPage pages={runs} label="Earlier runs" />
      <CommandLine
        commands={[
          { does: 'Reconcile everything; exits with 1 on any difference', line: 'souk reconcile' },
          {
            does: 'Reconcile some days',
            line: 'souk reconcile --from 2026-03-01 --to 2026-03-31',
          },
        ]}
      />
    </div>
  )
}

function RunNow() {
  const refresh = useRefresh()
  const start = useMutation({ mutationFn: network.reconcile, onSettled: refresh })
  const jobs = useQuery({
    queryKey: JOBS,
    queryFn: network.jobs,
    refetchInterval: ({ state }) => (isGoing(state.data) ? WATCH_MS : false),
  })
  const isBusy = start.isPending || isGoing(jobs.data)
  const wasBusy = useRef(false)
  useEffect(() => {
    if (wasBusy.current && !isBusy) void refresh() // The result heads the list.
    wasBusy.current = isBusy
  }, [isBusy, refresh])
  const error = start.error ?? jobs.failureReason
  return (
    <div className="space-y-2">
      <button
        type="button"
        className="button button-main"
        aria-busy={isBusy}
        onClick={() => isBusy || start.mutate()}
      >
        <span aria-live="polite">{isBusy ? 'Reconciling …' : 'Reconcile now'}</span>
      </button>
      {error !== null && <Failure error={error} />}
    </div>
  )
}

const isGoing = (jobs: Awaited<ReturnType<typeof network.jobs>> | undefined): boolean => {
  const state = jobs?.find(({ job }) => job === JOB)?.state ?? 'idle'
  return state !== 'idle'
}

function Run({ run }: { run: Reconciliation }) {
  const { differences, first_differences: first, datetime_created: at } = run
  return (
    <li className="space-y-3 px-4 py-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="number font-medium">
          {date(at)}, {time(at)} UTC
        </p>
        <span
          className={`chip ${differences === 0 ? 'bg-tint text-accent' : 'bg-bad-tint text-bad'}`}
        >
          {differences === 0 ? 'No difference' : `${count(differences)} differences`}
        </span>
        <p className="number text-soft">
          {date(run.date_from)} to {date(run.date_to)} · {count(run.events)} events
        </p>
      </div>
      {first.length > 0 && <Differences of={first} total={differences} />}
    </li>
  )
}

function Differences(props: { of: Reconciliation['first_differences']; total: number }) {
  const { of: all, total } = props
  return (
    <>
      <ul className="space-y-2">
        {all.map(({ table, key, column, expected, found, cause }) => (
          <li key={`${table} ${key} ${column}`} className="rounded-lg bg-sunk px-3 py-2">
            <p className="font-mono text-[0.8125rem] wrap-anywhere">
              {table}.{column}, {key}
            </p>
            <p className="number">
              Expected <b className="font-semibold">{expected ?? 'nothing'}</b>, found{' '}
              <b className="font-semibold text-bad">{found ?? 'nothing'}</b>
            </p>
            <p className="wrap-anywhere text-soft">{cause}</p>
          </li>
        ))}
      </ul>
      {total > all.length && (
        <p className="text-soft">
          {count(total - all.length)} more are not stored. The command lists all.
        </p>
      )}
    </>
  )
}
