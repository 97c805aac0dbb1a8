/** One import of a feed: its progress, its counts, the rows left out, and its columns. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ColumnMap, isRunning, rejectedOf } from '../feed-import.ts'
import { count, date, time } from '../format.ts'
import { type FeedImport, type FeedSource, merchantApi } from '../merchant-api.ts'
import { Failure } from '../ui/notice.tsx'
import { Sums } from '../ui/sums.tsx'
import { ColumnMapForm } from './column-map-form.tsx'
import { saveMap } from './feed-source-form.tsx'
import { type ChosenFile, uploadFeed } from './feed-upload.tsx'
import { RejectTable } from './reject-table.tsx'

/** Where the same feed can be read again. */
type Again = { readonly source: FeedSource | null } | { readonly chosen: ChosenFile }

export interface PanelProps {
  readonly merchId: number
  readonly run: FeedImport
  readonly map: ColumnMap
  readonly setMap: (map: ColumnMap) => void
  readonly canChange: boolean
  readonly again: Again
  readonly onStarted: (run: FeedImport) => Promise<void>
}

export function FeedImportPanel(props: PanelProps) {
  const { merchId, run, map, canChange } = props
  const repeat = useRepeat(props)
  const rejected = rejectedOf(run)
  const isGood = run.state === 'done'
  return (
    <section aria-label="Import" className="space-y-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2>
          {run.dry_run ? 'Trial' : 'Import'} of {date(run.datetime_created)},{' '}
          {time(run.datetime_created).slice(0, 5)} UTC: {headline(run)}
        </h2>
        {run.dry_run && isGood && canChange && repeat.isPossible && (
          <button
            type="button"
            className="button button-main"
            aria-busy={repeat.isPending}
            onClick={() => repeat.run({ isDryRun: false, map })}
          >
            Import {productWords(run.rows - rejected)}
          </button>
        )}
      </div>
      {repeat.error !== null && <Failure error={repeat.error} />}
      {isRunning(run) && <Running run={run} />}
      {run.error !== null && (
        <p
          role="alert"
          className="rounded-lg bg-bad-tint px-4 py-3 text-bad first-letter:uppercase"
        >
          {run.error}
        </p>
      )}
      {isGood && <Counts run={run} />}
      {run.columns !== null && run.columns.length > 0 && (
        <ColumnMapForm
          columns={run.columns}
          map={map}
          isOpen={run.state === 'failed'}
          isPending={repeat.isPending}
          onUse={
            canChange && repeat.isPossible
              ? (next) => {
                  props.setMap(next)
                  repeat.run({ isDryRun: true, map: next })
                }
              : null
          }
        />
      )}
      {rejected > 0 && <RejectTable merchId={merchId} run={run} />}
    </section>
  )
}

const productWords = (products: number): string =>
  `${count(products)} ${products === 1 ? 'product' : 'products'}`

/** Reads the same feed again, with another map or for good. */
function useRepeat({ merchId, again, onStarted }: PanelProps) {
  const client = useQueryClient()
  const mutation = useMutation({
    mutationFn: async ({ isDryRun, map }: { isDryRun: boolean; map: ColumnMap }) => {
      const run = await repeat(isDryRun, map)
      if (run !== undefined) await onStarted(run)
    },
  })
  const repeat = async (isDryRun: boolean, map: ColumnMap) => {
    if ('chosen' in again) {
      const how = { onProgress: () => undefined, signal: new AbortController().signal }
      return uploadFeed(merchId, { ...again.chosen, isDryRun, map }, how)
    }
    if (again.source === null) throw new Error('Save the URL of the feed first.')
    client.setQueryData(['feed source', merchId], await saveMap(merchId, again.source, map))
    return merchantApi.startImport(merchId, isDryRun ? { dry_run: 'true' } : {})
  }
  const isPossible = 'chosen' in again ? again.chosen.file !== null : again.source !== null
  const run = (input: { isDryRun: boolean; map: ColumnMap }) =>
    mutation.isPending || mutation.mutate(input)
  return { isPossible, isPending: mutation.isPending, error: mutation.error, run }
}

function headline(run: FeedImport): string {
  switch (run.state) {
    case 'receiving':
      return 'receiving the file'
    case 'waiting':
      return 'waiting for another import to end'
    case 'fetching':
      return 'fetching the feed'
    case 'importing':
      return 'reading the rows'
    case 'failed':
      return 'failed, nothing was changed'
    case 'done':
      return run.dry_run ? 'done, nothing was changed' : 'done'
  }
}

function Running({ run: { rows, bytes_read: read, bytes_total: total } }: { run: FeedImport }) {
  return (
    <div role="status" className="panel space-y-2 px-4 py-3 text-sm">
      <progress
        aria-label="Read so far"
        className="h-2 w-full accent-accent"
        {...(total === null || total === 0 ? {} : { max: total, value: read })}
      />
      <p className="number text-soft">{count(rows)} rows read</p>
    </div>
  )
}

const NOTES: Readonly<Record<string, string>> = {
  gtin_missing: 'without a GTIN: these match other shops’ offers only by name',
  gtin_bad: 'with a wrong GTIN, which was ignored',
  gtin_formatted: 'with spaces or hyphens in the GTIN, which were removed',
  gtin_repaired: 'with a GTIN that lost its leading zeros, which were added',
  gtin_restricted: 'with a GTIN of a range for use inside one shop, which was ignored',
  price_converted: 'with a price in another currency, converted to US dollars',
  sale_ignored: 'with a sale price that could not be used',
  sale_dates_unreadable: 'with sale dates that could not be read',
  currency_assumed: 'with a price that names no currency: one was assumed',
  availability_unknown: 'with an unknown word for the stock, taken as in stock',
  image_invalid: 'with a picture’s URL that could not be used',
}

function Counts({ run }: { run: FeedImport }) {
  const { rows, dry_run: isDry } = run
  const rejected = rejectedOf(run)
  const notes = Object.entries(run.noted).filter(([, of]) => (of ?? 0) > 0)
  return (
    <>
      <Sums
        sums={[
          { name: 'Rows', value: count(rows), note: 'in the feed' },
          {
            name: isDry ? 'Would be new or changed' : 'New or changed',
            value: count(run.offers_upserted),
            note: `${count(run.offers_unchanged)} unchanged`,
          },
          {
            name: isDry ? 'Would be removed' : 'Removed',
            value: count(run.offers_removed),
            note: run.read_whole
              ? 'no longer in the feed'
              : 'none, because the feed could not be read whole',
          },
          {
            name: 'Left out',
            value: count(rejected),
            note: rejected === 0 ? 'every row is good' : 'each is listed below',
          },
        ]}
      />
      {notes.length > 0 && (
        <details className="panel px-4 py-3 text-sm">
          <summary className="font-medium">Remarks on accepted rows</summary>
          <ul className="mt-2 space-y-1">
            {notes.map(([note, of]) => (
              <li key={note}>
                <span className="number font-semibold">{count(of ?? 0)}</span>{' '}
                {NOTES[note] ?? note.replaceAll('_', ' ')}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
