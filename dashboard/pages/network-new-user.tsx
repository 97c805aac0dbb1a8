/** Creates an account. Its person sets the password with a link. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { NETWORK_ROLES } from '../../src/accounts/permission.ts'
import { network } from '../network-api.ts'
import { ChoiceField } from '../ui/choice-field.tsx'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { toast } from '../ui/toast.ts'
import { useRefresh } from './network-record.tsx'

export type NetworkRole = (typeof NETWORK_ROLES)[number] | 'none'

export const NETWORK_ROLE_OPTIONS: readonly { value: NetworkRole; label: string }[] = [
  { value: 'none', label: 'None' },
  { value: 'staff', label: 'Staff: sees everything, reviews orders' },
  { value: 'admin', label: 'Admin: everything' },
]

export function NewUserForm({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<NetworkRole>('none')
  const refresh = useRefresh()
  const create = useMutation({
    mutationFn: () =>
      network.createUser({
        ...{ email: email.trim(), name },
        network_role: role === 'none' ? null : role,
      }),
    onSuccess: () => {
      void toast(`${email.trim()} created.`)
      return refresh()
    },
  })
  const { error } = create
  return (
    <DialogForm
      title="Create user"
      button="Create user"
      fields={['email', 'name', 'network_role']}
      error={error}
      isPending={create.isPending}
      onSubmit={() => create.mutateAsync()}
      onClose={onClose}
    >
      <p className="text-sm text-soft">
        Open the user in the list afterwards to get a link that sets the password. To add somebody
        to a publisher or merchant, invite them from the Members page of the organization instead.
      </p>
      <Field
        name="email"
        label="E-mail"
        inputMode="email"
        autoCapitalize="none"
        value={email}
        onChange={setEmail}
        error={error}
      />
      <Field name="name" label="Name" isOptional value={name} onChange={setName} error={error} />
      <ChoiceField
        name="network_role"
        label="Role in the network"
        options={NETWORK_ROLE_OPTIONS}
        value={role}
        onChange={setRole}
        error={error}
      />
    </DialogForm>
  )
}
