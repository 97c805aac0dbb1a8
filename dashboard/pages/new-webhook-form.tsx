/** Creates a webhook, and shows the secret that signs its messages once. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Organization } from '../../src/accounts/permission.ts'
import { nameOf } from '../membership.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { Switch } from '../ui/switch.tsx'
import { webhooks } from '../webhook-api.ts'
import { eventsOf } from './webhook-events.ts'

export function NewWebhookForm({ at, onClose }: { at: Organization; onClose: () => void }) {
  const all = eventsOf(at.kind)
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly string[]>(all.map(({ event }) => event))
  const client = useQueryClient()
  const create = useMutation({
    mutationFn: () => webhooks.create(at, { url: url.trim(), events }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks', nameOf(at)] }),
  })
  const { error, data } = create
  if (data !== undefined) return <Secret secret={data.secret ?? ''} onClose={onClose} />
  const turn = (event: string, isOn: boolean) =>
    setEvents(isOn ? [...events, event] : events.filter((one) => one !== event))
  return (
    <DialogForm
      title="Create webhook"
      button="Create webhook"
      fields={['url']}
      error={error}
      isPending={create.isPending}
      onSubmit={() => create.mutateAsync()}
      onClose={onClose}
      onDone={() => undefined} // The window shows the secret.
    >
      <Field
        name="url"
        label="URL of your server"
        inputMode="url"
        autoCapitalize="none"
        placeholder="https://example.com/souk-events"
        value={url}
        onChange={setUrl}
        error={error}
      />
      <fieldset className="space-y-3">
        <legend className="label">Send when</legend>
        {all.map(({ event, when }) => (
          <Switch
            key={event}
            label={when}
            note={event}
            isOn={events.includes(event)}
            onChange={(isOn) => turn(event, isOn)}
          />
        ))}
      </fieldset>
    </DialogForm>
  )
}

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title="Webhook created" isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      <div className="space-y-3">
        <p className="text-sm">
          Each message is signed with this secret. Store it in your server now. It will not be shown
          again.
        </p>
        <code className="block rounded-lg bg-sunk p-3 font-mono text-[0.8125rem] break-all">
          {secret}
        </code>
        <div className="flex gap-2">
          <CopyButton text={secret} label="Copy secret" />
          <button type="button" className="button button-small" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  )
}
