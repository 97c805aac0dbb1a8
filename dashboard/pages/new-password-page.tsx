/** Sets a new password with the token of a mailed link. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { faultsOf } from '../api.ts'
import { PATHS } from '../paths.ts'
import { signIn } from '../sign-in-api.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Shell } from '../ui/shell.tsx'

export function NewPasswordPage() {
  // After the #, which browsers send to no server.
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get('token') ?? '')
  const set = useMutation({ mutationFn: signIn.setPassword })
  const form = useFaultFocus(set.error)
  const [password, setPassword] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!set.isPending) set.mutate({ token, password })
  }
  const isTokenBad = token === '' || faultsOf(set.error).some(({ field }) => field === 'token')
  if (set.isSuccess) {
    return (
      <Shell title="Choose a new password">
        <p role="status">Your new password works. All earlier sessions have ended.</p>
        <Link to={PATHS.overview} className="button button-main text-center">
          Log in
        </Link>
      </Shell>
    )
  }
  if (isTokenBad) {
    return (
      <Shell title="Choose a new password">
        <p role="alert">This link was used, or is older than an hour.</p>
        <Link to={PATHS.forgotPassword} className="button button-main text-center">
          Ask for a new link
        </Link>
      </Shell>
    )
  }
  return (
    <Shell title="Choose a new password">
      <form ref={form} onSubmit={submit} className="panel space-y-4 p-5">
        <Field
          name="password"
          label="New password"
          type="password"
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
          error={set.error}
        />
        <FormFailure error={set.error} fields={['password']} />
        <button type="submit" className="button button-main w-full" aria-busy={set.isPending}>
          Set password
        </button>
      </form>
    </Shell>
  )
}
