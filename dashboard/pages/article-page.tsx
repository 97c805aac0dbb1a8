/** Takes an article, says which of its links can earn, and gives it back with smart links. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link as RouteLink } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { useCan, usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { type Found, publisherApi, type Source } from '../publisher-api.ts'
import { Choice } from '../ui/choice.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { EmptyState } from '../ui/notice.tsx'
import { Title } from '../ui/title.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'
import { ArticlePicker } from './article-picker.tsx'
import { BLANK, type Draft, KINDS } from './draft.ts'
import { FoundLinks } from './found-links.tsx'

/** The service takes 500 links at a time, and names this limit itself. */
function sourceOf({ kind, text }: Draft): Source {
  if (kind !== 'urls') return { [kind]: text }
  return { urls: text.split(/\s+/).filter((url) => url !== '') }
}

export function ArticlePage() {
  const canCreate = useCan('links.write')
  return (
    <div className="space-y-5">
      <p className="mb-1! text-sm text-soft">
        <RouteLink to={PATHS.links} className="link">
          Links
        </RouteLink>{' '}
        / article
      </p>
      <Title>Paste an article</Title>
      {canCreate ? (
        <Work />
      ) : (
        <EmptyState title="You cannot create links" icon="lock">
          A manager or owner of this publisher can.
        </EmptyState>
      )}
    </div>
  )
}

function Work() {
  const { pub_id: pubId } = usePublisher()
  const client = useQueryClient()
  const [draft, setDraft] = useState(BLANK)
  const [checked, setChecked] = useState<Draft | null>(null)
  const find = useMutation({
    mutationFn: (of: Draft) =>
      publisherApi.findLinks(pubId, { ...sourceOf(of), article: articleOf(of) }),
    onSuccess: (_links, of) => {
      setChecked(of)
      create.reset()
    },
  })
  const create = useMutation({
    mutationFn: ({ of, links }: { of: Draft; links: readonly Found[] }) =>
      publisherApi.findLinks(pubId, {
        ...{ urls: links.map(({ url }) => url), create: true },
        article: articleOf(of),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['links', pubId] }),
  })
  const isSame = checked === draft
  return (
    <>
      <p className="max-w-prose text-soft">
        Paste an article with ordinary links to shops. You see what each link would earn, and get
        the article back with smart links.
      </p>
      <DraftForm
        draft={draft}
        onChange={setDraft}
        error={find.error}
        isPending={find.isPending}
        onSubmit={() => find.mutateAsync(draft)}
      />
      {find.data !== undefined && checked !== null && isSame && (
        <FoundLinks
          draft={checked}
          found={find.data}
          created={create.data ?? null}
          error={create.error}
          isPending={create.isPending}
          onCreate={(links) => create.mutateAsync({ of: checked, links })}
        />
      )}
    </>
  )
}

const articleOf = ({ url, name }: Draft) => ({
  url: url.trim(),
  ...(name.trim() === '' ? {} : { name: name.trim() }),
})

function DraftForm(props: {
  draft: Draft
  onChange: (draft: Draft) => void
  error: Error | null
  isPending: boolean
  onSubmit: () => Promise<unknown>
}) {
  const { draft, onChange, error, isPending } = props
  const form = useFaultFocus(error)
  const area = useRef<HTMLTextAreaElement>(null)
  const send = useOneAtATime(props.onSubmit)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await send(undefined)
  }
  const label = draft.kind === 'urls' ? 'URLs, one a line' : 'The article'
  return (
    <form ref={form} onSubmit={submit} className="panel space-y-4 p-4" aria-label="Article">
      <ArticleFields draft={draft} onChange={onChange} error={error} />
      <div>
        <div className="mb-1.5 flex flex-wrap items-center justify-between gap-2">
          <label htmlFor="article-text" className="label mb-0">
            {label}
          </label>
          <Choice
            label="What you paste"
            options={KINDS}
            value={draft.kind}
            onChange={(kind) => onChange({ ...draft, kind })}
          />
        </div>
        <textarea
          ref={area}
          id="article-text"
          required
          rows={8}
          spellCheck={false}
          className="field h-auto py-2 font-mono text-[0.8125rem]"
          value={draft.text}
          onChange={({ target }) => onChange({ ...draft, text: target.value })}
        />
      </div>
      <FormFailure error={error} fields={['article.name', 'article.url']} />
      <button type="submit" className="button button-main" aria-busy={isPending}>
        Check links
      </button>
    </form>
  )
}

function ArticleFields(props: {
  draft: Draft
  onChange: (draft: Draft) => void
  error: Error | null
}) {
  const { draft, onChange, error } = props
  return (
    <>
      <ArticlePicker onChoose={(article) => onChange({ ...draft, ...article })} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          name="article.name"
          label="Article"
          value={draft.name}
          onChange={(name) => onChange({ ...draft, name })}
          error={error}
          isOptional
          placeholder="Ten kettles, tested"
        />
        <Field
          name="article.url"
          label="URL of the article"
          type="url"
          value={draft.url}
          onChange={(url) => onChange({ ...draft, url })}
          error={error}
          placeholder="https://magazine.example/kettles"
        />
      </div>
    </>
  )
}
