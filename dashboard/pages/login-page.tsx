/** Shown on any page without a session. The requested URL stays. */
import { type FormEvent, useState } from 'react'
import { useLogIn } from '../session.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { useTitle } from '../ui/title.tsx'

/** `isAgain`: a session has expired. The page behind the form is preserved for the same user. */
export function LoginPage({ isAgain }: { isAgain: boolean }) {
  useTitle('Log in')
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
      <LoginForm />
      <p className="mt-4 text-sm text-soft">
        The operator of this service creates accounts. The{' '}
        <a href="/docs/" className="link">
          API reference
        </a>{' '}
        is public.
      </p>
    </main>
  )
}

function LoginForm() {
  const logIn = useLogIn()
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
