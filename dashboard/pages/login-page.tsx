/** Shown on any page without a session. The requested URL stays. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { PATHS } from '../paths.ts'
import { useLogIn } from '../session.ts'
import { signIn } from '../sign-in-api.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { useTitle } from '../ui/title.tsx'
import { SecondFactor } from './second-factor.tsx'

/** `isAgain`: a session has expired. The page behind the form is preserved for the same user. */
export function LoginPage({ isAgain }: { isAgain: boolean }) {
  useTitle('Log in')
  const logIn = useLogIn()
  const { data: ways } = useQuery({
    queryKey: ['sign-in ways'],
    queryFn: signIn.ways,
    staleTime: Infinity,
  })
  const needed = logIn.data !== undefined && 'challenge' in logIn.data ? logIn.data : null
  return (
    <main className="mx-auto flex min-h-screen max-w-sm flex-col justify-center px-4 py-12">
      <h1>
        Log in to <span className="text-accent">Souk</span>
      </h1>
      <p role="status" className="mt-1 text-soft">
        {isAgain
          ? 'Your session has ended. Log in to continue where you were.'
          : 'Your links, what they earn, and why.'}
      </p>
      {REFUSED !== null && (
        <p role="alert" className="mt-3 text-sm text-bad">
          {REFUSED}
        </p>
      )}
      {ways?.oidc === true && (
        <a href="/api/v1/session/oidc/" className="button button-main mt-6 text-center">
          Log in with your organization
        </a>
      )}
      {needed === null && ways?.password !== false && <LoginForm logIn={logIn} />}
      {needed !== null && <SecondFactor needed={needed} onAgain={logIn.reset} />}
      <p className="mt-4 text-sm text-soft">
        {ways?.password_reset === true && (
          <>
            <Link to={PATHS.forgotPassword} className="link">
              Forgot your password?
            </Link>{' '}
          </>
        )}
        Accounts come from an invitation. The{' '}
        <a href="/docs/" className="link">
          documentation
        </a>{' '}
        is public.
      </p>
    </main>
  )
}

/** Why the identity provider signed nobody in; its way back leads here. */
const REASONS: Readonly<Record<string, string>> = {
  failed: 'Your organization’s sign-in did not work. Try again.',
  unverified: 'Your organization has not verified your e-mail address. Ask its administrator.',
  unknown: 'No account here has your e-mail address. Ask for an invitation.',
}
const REFUSED = REASONS[new URLSearchParams(location.search).get('sign_in') ?? ''] ?? null

function LoginForm({ logIn }: { logIn: ReturnType<typeof useLogIn> }) {
  const form = useFaultFocus(logIn.error)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!logIn.isPending) logIn.mutate({ email: email.trim(), password })
  }
  return (
    <form ref={form} onSubmit={submit} className="panel mt-6 space-y-4 p-5">
      <Field
        name="email"
        label="E-mail"
        // With type "email", browsers refuse or rewrite valid addresses such as jörg@bär.example.
        inputMode="email"
        autoCapitalize="none"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        error={logIn.error}
      />
      <Field
        name="password"
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        error={logIn.error}
      />
      <FormFailure error={logIn.error} fields={['email', 'password']} />
      <button type="submit" className="button button-main w-full" aria-busy={logIn.isPending}>
        Log in
      </button>
    </form>
  )
}
