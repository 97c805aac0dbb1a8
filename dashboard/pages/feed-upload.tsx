/** Uploads a feed as a file: a trial first, then the import. */
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { upload } from '../api.ts'
import type { ColumnMap } from '../feed-import.ts'
import { type FeedImport, importUrl } from '../merchant-api.ts'
import { ChoiceField } from '../ui/choice-field.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { FORMATS } from './feed-source-form.tsx'

/** The chosen file, and how to read it. */
export interface ChosenFile {
  readonly file: File | null
  readonly format: (typeof FORMATS)[number]['value']
  readonly currency: string
}

export const NO_FILE: ChosenFile = { file: null, format: 'auto', currency: '' }

interface Upload extends ChosenFile {
  readonly isDryRun: boolean
  readonly map: ColumnMap
}

export async function uploadFeed(
  merchId: number,
  { file, isDryRun, map, format, currency }: Upload,
  how: { onProgress: (part: number) => void; signal: AbortSignal },
): Promise<FeedImport> {
  if (file === null) throw new Error('Choose a file first.')
  const asked = {
    dry_run: isDryRun ? 'true' : null,
    format: format === 'auto' ? null : format,
    default_currency: currency.trim() === '' ? null : currency.trim().toUpperCase(),
    map: Object.keys(map).length === 0 ? null : JSON.stringify(map),
  }
  return upload(importUrl(merchId, asked), file, how.onProgress, how.signal)
}

export function FeedUpload(props: {
  readonly merchId: number
  readonly chosen: ChosenFile
  readonly choose: (chosen: ChosenFile) => void
  readonly map: ColumnMap
  readonly onStarted: (run: FeedImport) => Promise<void>
}) {
  const { merchId, chosen, choose, map, onStarted } = props
  const [part, setPart] = useState(0)
  const stop = useRef(new AbortController())
  const send = useMutation({
    mutationFn: async (isDryRun: boolean) => {
      setPart(0)
      stop.current = new AbortController()
      const how = { onProgress: setPart, signal: stop.current.signal }
      await onStarted(await uploadFeed(merchId, { ...chosen, isDryRun, map }, how))
    },
  })
  const form = useFaultFocus(send.error)
  return (
    <form
      ref={form}
      aria-label="Feed from a file"
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!send.isPending) send.mutate(true)
      }}
    >
      <FileFields chosen={chosen} choose={choose} error={send.error} />
      <FormFailure error={send.error} fields={['format', 'default_currency']} />
      {send.isPending && <Sending part={part} onStop={() => stop.current.abort()} />}
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button button-main" aria-busy={send.isPending}>
          Upload and try
        </button>
        <button
          type="button"
          className="button"
          aria-busy={send.isPending}
          onClick={() =>
            form.current?.reportValidity() === true && !send.isPending && send.mutate(false)
          }
        >
          Upload and import now
        </button>
      </div>
      <p className="text-sm text-soft">
        A file counts for 24 hours. To stay in the auctions without uploading daily, use a URL.
      </p>
    </form>
  )
}

function FileFields(props: {
  readonly chosen: ChosenFile
  readonly choose: (chosen: ChosenFile) => void
  readonly error: unknown
}) {
  const { chosen, choose, error } = props
  return (
    <>
      <div>
        <label htmlFor="feed-file" className="label">
          File: CSV, TSV, JSON lines or XML, also packed (gzip, zip), up to 1 GiB
        </label>
        <input
          id="feed-file"
          type="file"
          required
          className="field h-auto py-1.5 file:mr-3 file:cursor-pointer file:rounded-md file:border-0 file:bg-sunk file:px-3 file:py-1.5 file:text-ink"
          onChange={({ target }) => choose({ ...chosen, file: target.files?.[0] ?? null })}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        <ChoiceField
          name="format"
          label="Format"
          options={FORMATS}
          value={chosen.format}
          onChange={(format) => choose({ ...chosen, format })}
          error={error}
        />
        <Field
          name="default_currency"
          label="Currency of prices that name none"
          placeholder="EUR"
          maxLength={3}
          isOptional
          value={chosen.currency}
          onChange={(currency) => choose({ ...chosen, currency })}
          error={error}
        />
      </div>
    </>
  )
}

function Sending({ part, onStop }: { part: number; onStop: () => void }) {
  const percentage = Math.floor(part * 100)
  return (
    <div className="flex items-center gap-3 text-sm">
      <progress aria-label="Upload" className="h-2 grow accent-accent" max={1} value={part} />
      <span className="number w-12 text-right">{percentage} %</span>
      <button type="button" className="button button-small" onClick={onStop}>
        Stop
      </button>
    </div>
  )
}
