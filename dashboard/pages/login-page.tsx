/** Shown wherever somebody arrives without a session; the address they wanted stays. */
import { type FormEvent, useState } from 'react'
import { useLogIn } from '../session.ts'
import { Failure } from '../ui/notice.tsx'
import { useTitle } from '../ui/title.tsx'

export function LoginPage() {
  useTitle('Log in')
  return (
    <main className="mx-auto flex min-h-screen max-w-sm flex-col justify-center px-4 py-12">
      <h1>
        Log in to <span className="text-accent">Souk</span>
      </h1>
      <p className="mt-1 text-soft">Your links, what they earn, and why.</p>
      <LoginForm />
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

function LoginForm() {
  const logIn = useLogIn()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    logIn.mutate({ email, password })
  }
  return (
    <form onSubmit={submit} className="panel mt-6 space-y-4 p-5">
      <Credential name="email" label="E-mail" value={email} onChange={setEmail} />
      <Credential name="password" label="Password" value={password} onChange={setPassword} />
      {logIn.error !== null && <Failure error={logIn.error} />}
      <button type="submit" className="button button-main w-full" disabled={logIn.isPending}>
        Log in
      </button>
    </form>
  )
}

function Credential(props: {
  name: 'email' | 'password'
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const { name, label, value, onChange } = props
  return (
    <div>
      <label htmlFor={name} className="label">
        {label}
      </label>
      <input
        id={name}
        type={name}
        autoComplete={name === 'email' ? 'username' : 'current-password'}
        required
        className="field"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  )
}
