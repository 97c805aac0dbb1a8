/** Shown wherever somebody arrives without a session; the address they wanted stays. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../api.ts'
import { Failure } from '../ui/notice.tsx'

export function LoginPage() {
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const logIn = useMutation({
    mutationFn: api.logIn,
    onSuccess: (me) => client.setQueryData(['me'], me),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    logIn.mutate({ email, password })
  }
  return (
    <main className="mx-auto flex min-h-screen max-w-sm flex-col justify-center px-4 py-12">
      <h1>
        Log in to <span className="text-accent">Souk</span>
      </h1>
      <p className="mt-1 text-soft">Your links, what they earn, and why.</p>
      <form onSubmit={submit} className="panel mt-6 space-y-4 p-5">
        <div>
          <label htmlFor="email" className="label">
            E-mail
          </label>
          <input
            id="email"
            type="email"
            autoComplete="username"
            required
            className="field"
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
        </div>
        <div>
          <label htmlFor="password" className="label">
            Password
          </label>
          <input
            id="password"
            type="password"
            autoComplete="current-password"
            required
            className="field"
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        </div>
        {logIn.error !== null && <Failure error={logIn.error} />}
        <button type="submit" className="button button-main w-full" disabled={logIn.isPending}>
          Log in
        </button>
      </form>
      <p className="mt-4 text-sm text-soft">
        Accounts are made by the operator of this service. The{' '}
        <a href="/docs/" className="link">
          API reference
        </a>{' '}
        is open to everybody.
      </p>
    </main>
  )
}
