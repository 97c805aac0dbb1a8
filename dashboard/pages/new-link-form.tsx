/** The form of interface 4.1: an article, the product's page, and whether the link is locked. */
import { type FormEvent, useState } from 'react'
import type { CreateSmartLinkBody, SmartLink } from '../api.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Failure } from '../ui/notice.tsx'

export interface NewLinkFormProps {
  readonly made: SmartLink | null
  readonly error: Error | null
  readonly isPending: boolean
  readonly onMake: (body: CreateSmartLinkBody) => void
  readonly onClose: () => void
}

const BLANK = { url: '', article_name: '', article_url: '' }

export function NewLinkForm({ made, error, isPending, onMake, onClose }: NewLinkFormProps) {
  const [fields, setFields] = useState(BLANK)
  const [isExclusive, setExclusive] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { url, ...article } = fields
    onMake({
      ...article,
      ...(url === '' ? {} : { url }),
      exclusive_match_requested: isExclusive,
    })
  }
  return (
    <form onSubmit={submit} className="panel space-y-4 p-4" aria-label="New smart link">
      <Addresses fields={fields} onChange={setFields} />
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={isExclusive}
          onChange={({ target }) => setExclusive(target.checked)}
        />
        Lock the link to the shop of the product page
      </label>
      {error !== null && <Failure error={error} />}
      {made !== null && <Made link={made} />}
      <div className="flex gap-2">
        <button type="submit" className="button button-main" disabled={isPending}>
          Make the link
        </button>
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </form>
  )
}

type Fields = typeof BLANK

function Addresses(props: { fields: Fields; onChange: (fields: Fields) => void }) {
  const { fields, onChange } = props
  const set = (name: keyof Fields) => (value: string) => onChange({ ...fields, [name]: value })
  return (
    <>
      <TextField
        name="url"
        label="Product page"
        type="url"
        placeholder="https://shop.example/p/1"
        value={fields.url}
        onChange={set('url')}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          name="article_name"
          label="Article"
          isRequired
          placeholder="Ten kettles, tested"
          value={fields.article_name}
          onChange={set('article_name')}
        />
        <TextField
          name="article_url"
          label="Address of the article"
          type="url"
          isRequired
          placeholder="https://magazine.example/kettles"
          value={fields.article_url}
          onChange={set('article_url')}
        />
      </div>
    </>
  )
}

function Made({ link }: { link: SmartLink }) {
  return (
    <div role="status" className="flex flex-wrap items-center gap-3 rounded-lg bg-tint px-3 py-2">
      <code className="min-w-0 grow font-mono text-[0.8125rem] break-all">
        {link.smart_link_url}
      </code>
      <CopyButton text={link.smart_link_url} label="Copy address" />
    </div>
  )
}

function TextField(props: {
  name: string
  label: string
  value: string
  onChange: (value: string) => void
  type?: string
  placeholder?: string
  isRequired?: boolean
}) {
  const { name, label, value, onChange, type = 'text', placeholder, isRequired = false } = props
  return (
    <div>
      <label htmlFor={name} className="label">
        {label}
        {!isRequired && <span className="font-normal text-soft"> (optional)</span>}
      </label>
      <input
        id={name}
        type={type}
        required={isRequired}
        className="field"
        value={value}
        placeholder={placeholder}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  )
}
