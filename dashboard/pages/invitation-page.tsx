/** Accepts an invitation: makes an account, or adds a role to the one that is logged in. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { date } from '../format.ts'
import { PATHS } from '../paths.ts'
import { people } from '../people-api.ts'
import { useLogOut, useMe } from '../session.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Failure, Progress } from '../ui/notice.tsx'
import { Shell } from '../ui/shell.tsx'
import { LoginPage } from './login-page.tsx'

type Accepting = ReturnType<typeof useAccept>

function useAccept(token: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (account: { name?: string; password?: string }) => people.accept(token, account),
    onSuccess: () => client.invalidateQueries({ queryKey: ['me'] }),
  })
}

export function InvitationPage() {
  const { token } = useParams({ from: PATHS.invitation })
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => people.invitation(token),
    staleTime: Infinity, // Once accepted it is gone, and the page still shows what it was for.
  })
  const me = useMe()
  const accepting = useAccept(token)
  const { data } = invitation
  if (data === undefined || (me.isPending && me.failureReason === null)) {
    return <Shell title="Invitation">{<Progress query={invitation} />}</Shell>
  }
  const title = `Join ${data.organization_name}`
  if (accepting.isSuccess) {
    return (
      <Shell title={title}>
        <p role="status">
          {me.data === undefined ? 'Your account is ready.' : 'Done.'} You are {data.role} of{' '}
          <bdi>{data.organization_name}</bdi>.
        </p>
        <Link to={PATHS.overview} className="button button-main">
          {me.data === undefined ? 'Log in' : 'Go to the dashboard'}
        </Link>
      </Shell>
    )
  }
  const { sign_in_url: signInUrl } = data
  if (data.has_account && me.data === undefined && signInUrl === null) {
    return <LoginPage isAgain={false} />
  }
  return (
    <Shell title={title}>
      <p className="text-soft">
        You are invited as <b className="font-medium text-ink">{data.role}</b>, with the address{' '}
        <bdi className="wrap-anywhere">{data.email}</bdi>. The invitation works until{' '}
        {date(data.datetime_expires)}.
      </p>
      {me.data === undefined && signInUrl !== null && (
        <a href={signInUrl} className="button button-main">
          Sign in and accept
        </a>
      )}
      {me.data === undefined && signInUrl === null && <NewAccount accepting={accepting} />}
      {me.data !== undefined && (
        <Known email={me.data.email} invited={data.email} accepting={accepting} />
      )}
    </Shell>
  )
}

/** Somebody is logged in: the invited person, or another one on the same computer. */
function Known(props: { email: string; invited: string; accepting: Accepting }) {
  const { email, invited, accepting } = props
  const logOut = useLogOut()
  if (email.toLowerCase() !== invited.toLowerCase()) {
    return (
      <>
        <p>
          You are logged in as <bdi className="wrap-anywhere">{email}</bdi>. Log out, then open the
          link again.
        </p>
        <button type="button" className="button" onClick={() => logOut.mutate()}>
          Log out
        </button>
      </>
    )
  }
  return (
    <>
      {accepting.error !== null && <Failure error={accepting.error} />}
      <button
        type="button"
        className="button button-main"
        aria-busy={accepting.isPending}
        onClick={() => accepting.isPending || accepting.mutate({})}
      >
        Accept
      </button>
    </>
  )
}

function NewAccount({ accepting }: { accepting: Accepting }) {
  const form = useFaultFocus(accepting.error)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!accepting.isPending) accepting.mutate({ name, password })
  }
  return (
    <form ref={form} onSubmit={submit} className="panel space-y-4 p-5">
      <Field
        name="name"
        label="Your name"
        autoComplete="name"
        value={name}
        onChange={setName}
        error={accepting.error}
      />
      <Field
        name="password"
        label="Choose a password"
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
        error={accepting.error}
      />
      <FormFailure error={accepting.error} fields={['name', 'password']} />
      <button type="submit" className="button button-main w-full" aria-busy={accepting.isPending}>
        Create account
      </button>
    </form>
  )
}
