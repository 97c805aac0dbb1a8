/** Asks for a link that sets a new password. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { PATHS } from '../paths.ts'
import { signIn } from '../sign-in-api.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Shell } from '../ui/shell.tsx'

export function ForgotPasswordPage() {
  const ask = useMutation({ mutationFn: signIn.requestReset })
  const form = useFaultFocus(ask.error)
  const [email, setEmail] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!ask.isPending) ask.mutate(email.trim())
  }
  return (
    <Shell title="Choose a new password">
      {ask.isSuccess ? (
        <p role="status">
          If an account has this address, a link is on its way. It works once, within an hour.
        </p>
      ) : (
        <form ref={form} onSubmit={submit} className="panel space-y-4 p-5">
          <Field
            name="email"
            label="E-mail"
            inputMode="email"
            autoCapitalize="none"
            autoComplete="username"
            value={email}
            onChange={setEmail}
            error={ask.error}
          />
          <FormFailure error={ask.error} fields={['email']} />
          <button type="submit" className="button button-main w-full" aria-busy={ask.isPending}>
            Send a link
          </button>
        </form>
      )}
      <p className="text-sm">
        <Link to={PATHS.overview} className="link">
          Back to the log-in
        </Link>
      </p>
    </Shell>
  )
}
