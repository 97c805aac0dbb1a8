/** The user's own name and password. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useMe } from '../session.ts'
import { signIn } from '../sign-in-api.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { toast } from '../ui/toast.ts'

export function Profile() {
  const { data: me } = useMe()
  const client = useQueryClient()
  const [name, setName] = useState(me?.name ?? '')
  const save = useMutation({
    mutationFn: () => signIn.changeMe({ name }),
    onSuccess: () => {
      void toast('Saved.')
      return client.invalidateQueries({ queryKey: ['me'] })
    },
  })
  return (
    <Form
      title="Name"
      button="Save name"
      isPending={save.isPending}
      error={save.error}
      fields={['name']}
      onSubmit={() => save.mutate()}
    >
      <Field
        name="name"
        id="own-name"
        label="Your name"
        autoComplete="name"
        isOptional
        maxLength={255}
        value={name}
        onChange={setName}
        error={save.error}
      />
    </Form>
  )
}

export function Password() {
  const ways = useQuery({ queryKey: ['sign-in ways'], queryFn: signIn.ways, staleTime: Infinity })
  const client = useQueryClient()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const change = useMutation({
    mutationFn: () => signIn.changeMe({ current_password: current, password }),
    onSuccess: () => {
      setCurrent('')
      setPassword('')
      void toast('Password changed. Your other sessions have ended.')
      return client.invalidateQueries({ queryKey: ['sessions'] })
    },
  })
  if (ways.data?.password !== true) return null // The identity provider has it.
  return (
    <Form
      title="Password"
      button="Change password"
      isPending={change.isPending}
      error={change.error}
      fields={['current_password', 'password']}
      onSubmit={() => change.mutate()}
    >
      <Field
        name="current_password"
        label="Current password"
        type="password"
        autoComplete="current-password"
        value={current}
        onChange={setCurrent}
        error={change.error}
      />
      <Field
        name="password"
        label="New password"
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
        error={change.error}
      />
    </Form>
  )
}

function Form(props: {
  title: string
  button: string
  isPending: boolean
  error: Error | null
  fields: readonly string[]
  onSubmit: () => void
  children: ReactNode
}) {
  const { title, isPending, error } = props
  const form = useFaultFocus(error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) props.onSubmit()
  }
  return (
    <section aria-label={title} className="space-y-3">
      <h2>{title}</h2>
      <form ref={form} onSubmit={submit} aria-label={title} className="panel space-y-4 p-5">
        {props.children}
        <FormFailure error={error} fields={props.fields} />
        <button type="submit" className="button" aria-busy={isPending}>
          {props.button}
        </button>
      </form>
    </section>
  )
}
