/** Checks one page of the publisher: the service opens it as a reader's browser does. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { usePublisher } from '../organization.ts'
import { publisherApi, type TagCheck } from '../publisher-api.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Failure } from '../ui/notice.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'
import { ArticlePicker } from './article-picker.tsx'
import { TagCheckResult } from './tag-check-result.tsx'

const POLL_MS = 1_000

const isOpen = (check: TagCheck | null | undefined): boolean =>
  check?.state === 'waiting' || check?.state === 'running'

export function TagCheckPanel() {
  const { pub_id: pubId } = usePublisher()
  const client = useQueryClient()
  const queryKey = ['tag check', pubId]
  const { data: check, error } = useQuery({
    queryKey,
    queryFn: () => publisherApi.lastTagCheck(pubId),
    refetchInterval: ({ state }) => (isOpen(state.data) ? POLL_MS : false),
  })
  const start = useMutation({
    mutationFn: (url: string) => publisherApi.checkTag(pubId, url),
    onSuccess: (started) => client.setQueryData(queryKey, started),
  })
  return (
    <section aria-labelledby="check" className="panel space-y-4 p-4">
      <div>
        <h2 id="check">Check a page</h2>
        <p className="mt-1 max-w-prose text-sm text-soft">
          The service opens a page of yours as a reader’s browser does, and shows what the tag does
          with each link. It counts no visit and no click.
        </p>
      </div>
      <CheckForm
        error={start.error}
        isBusy={start.isPending || isOpen(check)}
        onCheck={start.mutateAsync}
      />
      {error !== null && <Failure error={error} />}
      {check != null && <Outcome check={check} />}
    </section>
  )
}

function CheckForm(props: {
  error: Error | null
  isBusy: boolean
  onCheck: (url: string) => Promise<unknown>
}) {
  const { error, isBusy, onCheck } = props
  const [url, setUrl] = useState('')
  const form = useFaultFocus(error)
  const check = useOneAtATime(onCheck)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isBusy) void check(url.trim())
  }
  return (
    <form ref={form} onSubmit={submit} aria-label="Check a page" className="max-w-3xl space-y-3">
      <Field
        name="url"
        label="URL of the page"
        type="url"
        placeholder="https://magazine.example/kettles"
        value={url}
        onChange={setUrl}
        error={error}
      />
      <FormFailure error={error} fields={['url']} />
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button button-main" aria-busy={isBusy}>
          Check page
        </button>
        <ArticlePicker onChoose={(article) => setUrl(article.url)} />
      </div>
    </form>
  )
}

const PROGRESS: Readonly<Record<string, string>> = {
  waiting: 'Waiting for the service’s browser …',
  running:
    'The browser loads the page and waits until the tag is done. This takes up to a minute …',
}

function Outcome({ check }: { check: TagCheck }) {
  const { state, url, error, result } = check
  return (
    <div className="space-y-3 border-t border-line pt-4">
      <p className="text-sm wrap-anywhere">
        <bdi>{url}</bdi>
      </p>
      <p role="status" className={isOpen(check) ? 'waiting text-soft' : 'sr-only'}>
        {PROGRESS[state] ?? (state === 'done' ? 'The page is checked.' : '')}
      </p>
      {error !== null && <Failure error={new Error(error)} />}
      {result !== null && <TagCheckResult check={check} result={result} />}
    </div>
  )
}
