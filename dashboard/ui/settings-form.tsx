/** The settings of an organization as a form, which sends only the changed ones. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useCan } from '../organization.ts'
import { Conflict } from './conflict.tsx'
import { Field, FormFailure, useFaultFocus } from './field.tsx'
import { toast } from './toast.ts'
import { useOneAtATime } from './use-one-at-a-time.ts'

export interface Setting<Settings> {
  readonly label: string
  readonly hint: string
  readonly isNeeded?: boolean
  /** The value as text, and the value that a text stands for. */
  readonly show: (of: Settings) => string
  readonly read: (text: string) => unknown
}

type Texts = Readonly<Record<string, string>>

interface Props<Settings> {
  readonly settings: Settings
  /** By the API's names. */
  readonly fields: Readonly<Record<string, Setting<Settings>>>
  /** The values of the controls in `children`. */
  readonly others: Readonly<Record<string, unknown>>
  readonly save: (changes: object) => Promise<Settings>
  readonly reload: () => Promise<Settings>
  /** Called with the saved or reloaded settings. */
  readonly onShown: (settings: Settings) => void
  /** Controls below the fields, for those who may change them. */
  readonly children: (canChange: boolean) => ReactNode
}

export function SettingsForm<Settings>(props: Props<Settings>) {
  const { fields, children } = props
  const canChange = useCan('settings.write')
  const { texts, setTexts, save, reload, submit } = useSettings(props)
  const form = useFaultFocus(save.error)
  const names = Object.keys(fields)
  return (
    <form ref={form} onSubmit={submit} aria-label="Settings" className="panel space-y-5 p-4">
      <fieldset disabled={!canChange} className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
        {Object.entries(fields).map(([name, { label, hint, isNeeded }]) => (
          <div key={name}>
            <Field
              name={name}
              label={label}
              value={texts[name] ?? ''}
              onChange={(text) => setTexts({ ...texts, [name]: text })}
              error={save.error}
              isOptional={isNeeded !== true}
            />
            <p className="mt-1 text-xs text-soft">{hint}</p>
          </div>
        ))}
      </fieldset>
      {children(canChange)}
      <FormFailure error={save.error} fields={names} />
      <Conflict error={save.error} onReload={reload} />
      {canChange ? (
        <button type="submit" className="button button-main" aria-busy={save.isPending}>
          Save settings
        </button>
      ) : (
        <p className="text-sm text-soft">You can read these. A manager or owner can change them.</p>
      )}
    </form>
  )
}

function useSettings<Settings>(props: Props<Settings>) {
  const { settings, fields, others, onShown } = props
  const client = useQueryClient()
  const textsOf = (of: Settings): Texts =>
    Object.fromEntries(Object.entries(fields).map(([name, { show }]) => [name, show(of)]))
  const [texts, setTexts] = useState(() => textsOf(settings))
  const show = (present: Settings) => {
    setTexts(textsOf(present))
    onShown(present)
  }
  const save = useMutation({
    mutationFn: props.save,
    onSuccess: (saved) => {
      show(saved)
      void client.invalidateQueries({ queryKey: ['me'] }) // It has the name in the menu.
      void toast('Saved. It holds within a few seconds.')
    },
  })
  const send = useOneAtATime((changes: object) => save.mutateAsync(changes))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    // A field that nobody touched keeps its exact value.
    const before = textsOf(settings)
    const changed = Object.entries(fields).flatMap(([name, { read }]) =>
      texts[name] === before[name] ? [] : [[name, read(texts[name] ?? '')]],
    )
    await send({ ...Object.fromEntries(changed), ...others })
  }
  const reload = async () => {
    show(await props.reload())
    save.reset()
  }
  return { texts, setTexts, save, reload, submit }
}
