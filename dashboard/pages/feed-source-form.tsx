/** The form of a feed's URL: access, format, schedule, currency; it offers a trial first. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { ColumnMap } from '../feed-import.ts'
import { type FeedImport, type FeedSource, merchantApi } from '../merchant-api.ts'
import { ChoiceField } from '../ui/choice-field.tsx'
import { Conflict } from '../ui/conflict.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'
import { ConfirmRemoval } from './feed-removal.tsx'

export const FORMATS = [
  { value: 'auto', label: 'Recognize it' },
  { value: 'csv', label: 'CSV' },
  { value: 'tsv', label: 'TSV (tabs)' },
  { value: 'jsonl', label: 'JSON lines' },
  { value: 'xml', label: 'XML' },
] as const

const SCHEDULES = [
  { value: 'hourly', label: 'Every hour' },
  { value: 'every_6_hours', label: 'Every 6 hours' },
  { value: 'every_12_hours', label: 'Every 12 hours' },
  { value: 'daily', label: 'Once a day' },
  { value: 'manual', label: 'Only when you start it' },
] as const

const NAMES = ['url', 'username', 'password', 'format', 'schedule', 'default_currency', 'element']

interface Values {
  readonly url: string
  readonly username: string
  readonly password: string
  readonly format: (typeof FORMATS)[number]['value']
  readonly schedule: (typeof SCHEDULES)[number]['value']
  readonly default_currency: string
  readonly element: string
}

const valuesOf = (source: FeedSource | null): Values => ({
  url: source?.url ?? '',
  username: source?.username ?? '',
  password: '',
  format: source?.format ?? 'auto',
  schedule: source?.schedule ?? 'every_6_hours',
  default_currency: source?.default_currency ?? '',
  element: source?.element ?? '',
})

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

/** The whole record, because a field that is not sent takes its default. */
function bodyOf(values: Values, map: ColumnMap): object {
  const { url, username, password, format, schedule, default_currency, element } = values
  return {
    ...{ url: url.trim(), format, schedule, map: Object.keys(map).length === 0 ? null : map },
    username: orNull(username),
    ...(password === '' ? {} : { password }),
    default_currency: orNull(default_currency.toUpperCase()),
    element: orNull(element),
  }
}

/** Saves the source as it is, with another map. */
export const saveMap = (merchId: number, source: FeedSource, map: ColumnMap) =>
  merchantApi.setFeedSource(merchId, bodyOf(valuesOf(source), map), source)

export function FeedSourceForm(props: {
  readonly merchId: number
  readonly source: FeedSource | null
  readonly map: ColumnMap
  readonly onStarted: (run: FeedImport) => Promise<void>
}) {
  const { merchId, source, map, onStarted } = props
  const client = useQueryClient()
  const [values, setValues] = useState(() => valuesOf(source))
  const start = useMutation({
    mutationFn: async (isDryRun: boolean) => {
      const saved = await merchantApi.setFeedSource(merchId, bodyOf(values, map), source)
      client.setQueryData(['feed source', merchId], saved)
      const run = await merchantApi.startImport(merchId, isDryRun ? { dry_run: 'true' } : {})
      if (run !== undefined) await onStarted(run)
    },
  })
  const form = useFaultFocus(start.error)
  const begin = useOneAtATime((isDryRun: boolean) => start.mutateAsync(isDryRun))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await begin(true)
  }
  const field = (name: keyof Values) => ({
    name,
    value: values[name],
    onChange: (value: string) => setValues({ ...values, [name]: value }),
    error: start.error,
  })
  return (
    <form ref={form} onSubmit={submit} aria-label="Feed from a URL" className="space-y-4">
      <Field
        {...field('url')}
        label="URL of the feed"
        inputMode="url"
        placeholder="https://shop.example/feed.xml"
      />
      <SourceFields field={field} values={values} set={setValues} source={source} />
      <FormFailure error={start.error} fields={NAMES} />
      <Conflict
        error={start.error}
        onReload={async () => {
          const present = await merchantApi.feedSource(merchId)
          client.setQueryData(['feed source', merchId], present)
          setValues(valuesOf(present))
          start.reset()
        }}
      />
      <SourceButtons
        isPending={start.isPending}
        onImport={() => form.current?.reportValidity() === true && void begin(false)}
      >
        {source !== null && <ConfirmRemoval merchId={merchId} />}
      </SourceButtons>
    </form>
  )
}

function SourceButtons(props: {
  readonly isPending: boolean
  readonly onImport: () => void
  readonly children: ReactNode
}) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <button type="submit" className="button button-main" aria-busy={props.isPending}>
          Save and try
        </button>
        <button
          type="button"
          className="button"
          aria-busy={props.isPending}
          onClick={props.onImport}
        >
          Save and import now
        </button>
        {props.children}
      </div>
      <p className="text-sm text-soft">
        A trial reads the whole feed and changes nothing: you see every row that would be left out.
      </p>
    </>
  )
}

function SourceFields(props: {
  readonly field: (name: keyof Values) => {
    readonly name: string
    readonly value: string
    readonly onChange: (value: string) => void
    readonly error: unknown
  }
  readonly values: Values
  readonly set: (values: Values) => void
  readonly source: FeedSource | null
}) {
  const { field, values, set, source } = props
  return (
    <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
      <Field {...field('username')} label="User name" autoComplete="off" isOptional />
      <Field
        {...field('password')}
        type="password"
        label="Password"
        autoComplete="new-password"
        placeholder={source?.has_password === true ? 'Stored; empty keeps it' : ''}
        isOptional
      />
      <ChoiceField
        {...field('schedule')}
        label="Fetched"
        options={SCHEDULES}
        value={values.schedule}
        onChange={(schedule) => set({ ...values, schedule })}
      />
      <ChoiceField
        {...field('format')}
        label="Format"
        options={FORMATS}
        value={values.format}
        onChange={(format) => set({ ...values, format })}
      />
      <Field
        {...field('default_currency')}
        label="Currency of prices that name none"
        placeholder="EUR"
        maxLength={3}
        isOptional
      />
      {values.format === 'xml' && (
        <Field
          {...field('element')}
          label="Element that repeats"
          placeholder="Recognized"
          isOptional
        />
      )}
    </div>
  )
}
