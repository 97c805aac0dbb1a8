/** Scheduled jobs: when each ran and runs next, its last error, and a run at once. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { date, time } from '../format.ts'
import { type Job, network } from '../network-api.ts'
import { useCan } from '../organization.ts'
import { CommandLine, useCurl } from '../ui/command-line.tsx'
import { Failure, Progress } from '../ui/notice.tsx'
import { PageHead, ReadOnlyNote } from '../ui/page-head.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { useRefresh } from './network-record.tsx'

const REFRESH_MS = 5_000

export const JOBS = ['network', 'jobs']

export function JobsPage() {
  const curl = useCurl()
  const jobs = useQuery({ queryKey: JOBS, queryFn: network.jobs, refetchInterval: REFRESH_MS })
  // Failures first, then by name.
  const sorted = jobs.data?.toSorted(
    (one, other) =>
      Number(one.error === null) - Number(other.error === null) || (one.job < other.job ? -1 : 1),
  )
  return (
    <div className="space-y-4">
      <PageHead
        title="Jobs"
        purpose="Work that a worker does by schedule. A failed job is tried again by itself."
      />
      <ReadOnlyNote permission="network.write" action="run jobs" />
      {jobs.data === undefined && jobs.failureReason === null && <TableSkeleton />}
      {jobs.failureReason !== null && <Progress query={jobs} />}
      {sorted !== undefined && (
        <ul className="panel divide-y divide-line">
          {sorted.map((job) => (
            <JobLine key={job.job} job={job} />
          ))}
        </ul>
      )}
      <CommandLine
        commands={[
          { does: 'List jobs', line: curl('GET', '/api/v1/network/jobs/') },
          { does: 'Run one now', line: curl('POST', '/api/v1/network/jobs/<job>/run/') },
        ]}
      />
    </div>
  )
}

/** Purposes of jobs whose name does not say enough. */
const PURPOSES: Readonly<Record<string, string>> = {
  check_tags: 'Opens pages that publishers check for the page tag.',
  check_pages: 'Checks whether the pages of earning links are still there.',
  deliver_requested_reports: 'Delivers reports that somebody wants at once.',
  deliver_reports: 'Delivers reports to the storage of publishers.',
  forget_deliveries: 'Deletes old deliveries of webhooks.',
  forget_hash_keys: 'Deletes keys of visitor hashes that are out of date.',
  forget_intake_requests: 'Deletes old records of order reports.',
  forget_page_sessions: 'Deletes old page sessions.',
  forget_people: 'Deletes old invitations and old entries of the audit log.',
  forget_receipts: 'Deletes receipts that nobody clicked.',
  forget_responses: 'Deletes expired sessions and stored answers.',
  forget_seen_links: 'Deletes records of links that readers saw.',
  guard_exploration: 'Limits the cost of test auctions.',
  learn_model: 'Trains the prediction of orders.',
  learn_traffic: 'Learns at which hours readers come.',
  learn_young_model: 'Trains the prediction often while it has little data.',
  reattribute_orders: 'Counts orders again whose clicks arrived later.',
  refetch_feeds: 'Fetches product feeds that are due.',
  retire_views: 'Deletes old page views after their totals are signed.',
  sample_health: 'Stores the state of the fold for the page Health.',
  step_roas: 'Adjusts bids of campaigns with a target return.',
  sum_open_clicks: 'Sums the clicks that budgets still reserve.',
  update_product_words: 'Makes new products searchable.',
  watch_links: 'Sets the health of links.',
}

export const jobName = (job: string): string => {
  const words = job.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const moment = (at: string): string => `${date(at)}, ${time(at)} UTC`

const STATES = { idle: null, queued: 'Waits for a worker', running: 'Running' } as const

function JobLine({ job }: { job: Job }) {
  const { datetime_ended: ended, datetime_next: next, error, state } = job
  const canWrite = useCan('network.write')
  const refresh = useRefresh()
  const run = useMutation({ mutationFn: () => network.runJob(job.job), onSettled: refresh })
  const isBusy = run.isPending || state === 'running'
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5 text-sm">
      <div className="min-w-0 grow basis-64">
        <p className="flex flex-wrap items-center gap-x-2 font-medium">
          {jobName(job.job)}
          {STATES[state] !== null && <span className="chip">{STATES[state]}</span>}
          {error !== null && <span className="chip bg-bad-tint text-bad">Failed</span>}
        </p>
        {PURPOSES[job.job] !== undefined && <p>{PURPOSES[job.job]}</p>}
        <p className="number text-soft">
          {ended === null ? 'Never ran' : `Last run ${moment(ended)}`}
          {next !== null && ` · next ${moment(next)}`} · <code>{job.schedule}</code>
        </p>
        {error !== null && <p className="wrap-anywhere text-bad">{error}</p>}
        {run.error !== null && <Failure error={run.error} />}
      </div>
      {canWrite && (
        <button
          type="button"
          className="button button-small"
          aria-label={`Run now: ${jobName(job.job)}`}
          aria-busy={isBusy}
          onClick={() => isBusy || run.mutate()}
        >
          Run now
        </button>
      )}
    </li>
  )
}
