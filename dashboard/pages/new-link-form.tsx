/** The form that creates a smart link: article, product page, and whether the link is locked. */
import { type FormEvent, useRef, useState } from 'react'
import type { CreateSmartLinkBody, SmartLink } from '../api.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'
import { ArticlePicker } from './article-picker.tsx'
import { LinkPreview, useMarket, verdict } from './link-preview.tsx'

interface NewLinkFormProps {
  readonly made: SmartLink | null
  readonly error: Error | null
  readonly isPending: boolean
  readonly onMake: (body: CreateSmartLinkBody) => Promise<unknown>
  readonly onClose: () => void
}

const BLANK = { url: '', article_name: '', article_url: '' }

export function NewLinkForm({ made, error, isPending, onMake, onClose }: NewLinkFormProps) {
  const [fields, setFields] = useState(BLANK)
  const [isExclusive, setExclusive] = useState(false)
  const form = useFaultFocus(error)
  const make = useOneAtATime(onMake)
  const lastMade = useRef('')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const { url, ...article } = fields
    const body = {
      ...article,
      ...(url === '' ? {} : { url }),
      exclusive_match_requested: isExclusive,
    }
    // The article stays in the form for the next link. Submitting the same values again creates no
    // second link.
    const wanted = JSON.stringify(body)
    if (wanted !== lastMade.current && (await make(body))) lastMade.current = wanted
  }
  return (
    <form ref={form} onSubmit={submit} className="panel space-y-4 p-4" aria-label="New smart link">
      <Addresses fields={fields} onChange={setFields} error={error} />
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={isExclusive}
          onChange={({ target }) => setExclusive(target.checked)}
        />
        Always lead to the shop of this product page
      </label>
      <FormFailure error={error} fields={Object.keys(BLANK)} />
      {made !== null && <Made link={made} />}
      <div className="flex gap-2">
        <button type="submit" className="button button-main" aria-busy={isPending}>
          Create link
        </button>
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </form>
  )
}

type Fields = typeof BLANK

function Addresses(props: {
  fields: Fields
  onChange: (fields: Fields) => void
  error: Error | null
}) {
  const { fields, onChange, error } = props
  const field = (name: keyof Fields) => ({
    name,
    value: fields[name],
    onChange: (value: string) => onChange({ ...fields, [name]: value }),
    error,
  })
  return (
    <>
      <Field
        {...field('url')}
        label="Product page"
        type="url"
        isOptional
        placeholder="https://shop.example/p/1"
      />
      <LinkPreview url={fields.url} />
      <ArticlePicker
        onChoose={({ name, url }) => onChange({ ...fields, article_name: name, article_url: url })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field {...field('article_name')} label="Article" placeholder="Ten kettles, tested" />
        <Field
          {...field('article_url')}
          label="URL of the article"
          type="url"
          placeholder="https://magazine.example/kettles"
        />
      </div>
    </>
  )
}

/** Says in the same place whether the new link earns: creating it succeeds for any page. */
function Made({ link }: { link: SmartLink }) {
  const { data: market } = useMarket(link.url)
  return (
    <div role="status" className="flex flex-wrap items-center gap-3 rounded-lg bg-tint px-3 py-2">
      <p className="w-full text-sm">
        Created.{' '}
        {market === undefined
          ? link.url === '' && 'It leads to its article and earns nothing without a product page.'
          : verdict(market).replace('would earn', 'earns')}
      </p>
      <code className="min-w-0 grow font-mono text-[0.8125rem] break-all">
        {link.smart_link_url}
      </code>
      <CopyButton text={link.smart_link_url} label="Copy link" />
    </div>
  )
}
