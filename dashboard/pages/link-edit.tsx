/** Changes of a smart link: its product page, its lock to one merchant, and whether it works. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { isConflict } from '../api.ts'
import { usePublisher } from '../organization.ts'
import { type LinkChange, publisherApi, type Settings } from '../publisher-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Progress } from '../ui/notice.tsx'
import { toast } from '../ui/toast.ts'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'

/** Changes a link, and reads again whatever shows it. */
export function useLinkChange(id: string) {
  const { pub_id: pubId } = usePublisher()
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ change, etag }: { change: LinkChange; etag?: string }) =>
      publisherApi.changeLink(pubId, id, change, etag),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['links', pubId] })
      await client.invalidateQueries({ queryKey: ['link', pubId, id] })
    },
  })
}

export function LinkDialog(props: { id: string; isOpen: boolean; onClose: () => void }) {
  const { id, isOpen, onClose } = props
  return (
    <Dialog title="Edit link" isOpen={isOpen} onOpenChange={(open) => !open && onClose()}>
      {isOpen && <LinkEdit id={id} onClose={onClose} />}
    </Dialog>
  )
}

function LinkEdit({ id, onClose }: { id: string; onClose: () => void }) {
  const { pub_id: pubId } = usePublisher()
  const settings = useQuery({
    queryKey: ['link', pubId, id, 'settings'],
    queryFn: () => publisherApi.settings(pubId, id),
    staleTime: 0,
    gcTime: 0,
  })
  if (settings.data === undefined) return <Progress query={settings} />
  return (
    <EditForm
      key={settings.data.etag}
      settings={settings.data}
      onReload={() => void settings.refetch()}
      onClose={onClose}
    />
  )
}

function EditForm(props: { settings: Settings; onReload: () => void; onClose: () => void }) {
  const { settings, onReload, onClose } = props
  const [url, setUrl] = useState(settings.url)
  const [isExclusive, setExclusive] = useState(settings.exclusive_match_requested)
  const save = useLinkChange(settings.auction_id)
  const send = useOneAtATime(save.mutateAsync)
  const form = useFaultFocus(save.error)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const change = {
      ...(url === settings.url ? {} : { url }),
      exclusive_match_requested: isExclusive,
    }
    if (!(await send({ change, etag: settings.etag }))) return
    void toast('Saved. Readers are led there within seconds.')
    onClose()
  }
  return (
    <form ref={form} onSubmit={submit} className="space-y-4">
      <Field
        name="url"
        label="Product page"
        type="url"
        value={url}
        onChange={setUrl}
        error={save.error}
        isOptional={settings.url === ''}
      />
      <label className="flex items-start gap-2 text-sm">
        <input
          type="checkbox"
          className="mt-0.5 size-4 accent-accent"
          checked={isExclusive}
          onChange={({ target }) => setExclusive(target.checked)}
        />
        Always lead to the shop of this product page
      </label>
      {isConflict(save.error) ? (
        <p role="alert" className="rounded-lg bg-bad-tint px-4 py-3 text-bad">
          Somebody else has changed this link meanwhile.{' '}
          <button type="button" className="underline" onClick={onReload}>
            Load their change
          </button>
        </p>
      ) : (
        <FormFailure error={save.error} fields={['url']} />
      )}
      <div className="flex gap-2">
        <button type="submit" className="button button-main" aria-busy={save.isPending}>
          Save
        </button>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  )
}
