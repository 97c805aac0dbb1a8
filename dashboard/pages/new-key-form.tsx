/** Makes an API key: what it is for, and until when it works. */
import { type FormEvent, useState } from 'react'
import { Failure } from '../ui/notice.tsx'

export function NewKeyForm(props: {
  error: Error | null
  isPending: boolean
  onMake: (body: { description: string; expires: string | null }) => void
}) {
  const [description, setDescription] = useState('')
  const [expires, setExpires] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    props.onMake({ description, expires: expires === '' ? null : expires })
    setDescription('')
    setExpires('')
  }
  return (
    <form onSubmit={submit} aria-label="New API key" className="panel space-y-3 p-4">
      <div className="grid gap-3 sm:grid-cols-[1fr_auto_auto] sm:items-end">
        <div>
          <label htmlFor="description" className="label">
            What is it for?
          </label>
          <input
            id="description"
            className="field"
            required
            maxLength={255}
            placeholder="Nightly report"
            value={description}
            onChange={({ target }) => setDescription(target.value)}
          />
        </div>
        <div>
          <label htmlFor="expires" className="label">
            Works until <span className="font-normal text-soft">(optional)</span>
          </label>
          <input
            id="expires"
            type="date"
            className="field"
            value={expires}
            onChange={({ target }) => setExpires(target.value)}
          />
        </div>
        <button type="submit" className="button button-main" disabled={props.isPending}>
          Create key
        </button>
      </div>
      {props.error !== null && <Failure error={props.error} />}
    </form>
  )
}
