/** The form that creates an API key, with a purpose, rights and an expiry. */
import { type FormEvent, useState } from 'react'
import type { WantedKey } from '../people-api.ts'
import { ChoiceField } from '../ui/choice-field.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'

const RIGHTS = {
  here: {},
  figures: { scopes: ['figures.read'] },
  account: { is_for_account: true },
} as const satisfies Record<string, Partial<WantedKey>>
type Rights = keyof typeof RIGHTS
const RIGHTS_WORDS: readonly { value: Rights; label: string }[] = [
  { value: 'here', label: 'All that you may do here' },
  { value: 'figures', label: 'Only read figures here' },
  { value: 'account', label: 'All, in your whole account' },
]

export function NewKeyForm(props: {
  error: Error | null
  isPending: boolean
  onMake: (key: WantedKey) => Promise<unknown>
}) {
  const { error, isPending, onMake } = props
  const [description, setDescription] = useState('')
  const [lastDay, setLastDay] = useState('')
  const [rights, setRights] = useState<Rights>('here')
  const form = useFaultFocus(error)
  const make = useOneAtATime(onMake)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    // A chosen day includes the whole day.
    const isMade = await make({
      description,
      datetime_expires: lastDay === '' ? null : `${lastDay}T23:59:59Z`,
      ...RIGHTS[rights],
    })
    if (!isMade) return
    setDescription('')
    setLastDay('')
  }
  return (
    <form ref={form} onSubmit={submit} aria-label="New API key" className="panel space-y-3 p-4">
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-[1fr_auto_auto_auto]">
        <Field
          name="description"
          label="What is it for?"
          maxLength={255}
          placeholder="Nightly report"
          value={description}
          onChange={setDescription}
          error={error}
        />
        <Field
          name="datetime_expires"
          label="Expires"
          placeholder="2027-03-31"
          inputMode="numeric"
          maxLength={10}
          isOptional
          value={lastDay}
          onChange={setLastDay}
          error={error}
        />
        <ChoiceField
          name="scopes"
          label="What may it do?"
          options={RIGHTS_WORDS}
          value={rights}
          onChange={setRights}
          error={error}
        />
        <button type="submit" className="button button-main sm:mt-6" aria-busy={isPending}>
          Create key
        </button>
      </div>
      <FormFailure error={error} fields={['description', 'datetime_expires', 'scopes']} />
    </form>
  )
}
