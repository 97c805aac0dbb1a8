/** The user's own account: name, password, sessions, second factors and recovery codes. */
import { startRegistration } from '@simplewebauthn/browser'
import {
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { date } from '../format.ts'
import { useMe } from '../session.ts'
import { type Passkey, signIn } from '../sign-in-api.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Failure, Progress } from '../ui/notice.tsx'
import { Title } from '../ui/title.tsx'
import { Password, Profile } from './account-profile.tsx'
import { Sessions } from './account-sessions.tsx'

export function AccountPage() {
  const { data: me } = useMe()
  if (me === undefined) return null
  const { second_factors: factors } = me
  return (
    <div className="space-y-6">
      <Title>Your account</Title>
      <p className="text-soft">
        Logged in as <bdi className="wrap-anywhere">{me.email}</bdi>. A second factor protects your
        account when somebody else learns your password.
      </p>
      <div className="grid items-start gap-8 *:min-w-0 *:space-y-8 lg:grid-cols-2">
        <div>
          <Profile />
          <Password />
          <Sessions />
        </div>
        <div>
          <App isConfirmed={factors.totp} />
          <Passkeys />
          <RecoveryCodes left={factors.recovery_codes} />
        </div>
      </div>
    </div>
  )
}

/** Changes second factors, which the page then reads again. */
function useChange<In, Out>(
  change: (input: In) => Promise<Out>,
): UseMutationResult<Out, Error, In> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['me'] })
      await client.invalidateQueries({ queryKey: ['passkeys'] })
    },
  })
}

function App({ isConfirmed }: { isConfirmed: boolean }) {
  const enrol = useMutation({ mutationFn: signIn.enrolTotp })
  const remove = useChange(signIn.removeTotp)
  return (
    <section aria-labelledby="app-title" className="space-y-3">
      <h2 id="app-title">Authenticator app</h2>
      <p role="status">
        {isConfirmed ? 'Log-in asks for a code of your app.' : 'No app is set up.'}
      </p>
      {[enrol, remove].map(
        ({ error }) => error !== null && <Failure key={String(error)} error={error} />,
      )}
      {isConfirmed && (
        <button type="button" className="button" onClick={() => remove.mutate(undefined)}>
          Remove the app
        </button>
      )}
      {!isConfirmed && enrol.data === undefined && (
        <button type="button" className="button" onClick={() => enrol.mutate()}>
          Set up an app
        </button>
      )}
      {!isConfirmed && enrol.data !== undefined && (
        <div className="panel space-y-4 p-5">
          <p>
            Type this secret into your app, or{' '}
            <a href={enrol.data.otpauth_url} className="link">
              open it there
            </a>
            :
          </p>
          <code className="block wrap-anywhere">{enrol.data.secret.replace(/.{4}/g, '$& ')}</code>
          <ConfirmApp />
        </div>
      )}
    </section>
  )
}

function ConfirmApp() {
  const confirm = useChange(signIn.confirmTotp)
  const form = useFaultFocus(confirm.error)
  const [code, setCode] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!confirm.isPending) confirm.mutate(code)
  }
  return (
    <form ref={form} onSubmit={submit} className="space-y-4">
      <Field
        name="totp"
        label="Code that the app shows"
        inputMode="numeric"
        autoComplete="one-time-code"
        value={code}
        onChange={setCode}
        error={confirm.error}
      />
      <FormFailure error={confirm.error} fields={['totp']} />
      <button type="submit" className="button button-main" aria-busy={confirm.isPending}>
        Confirm
      </button>
    </form>
  )
}

function Passkeys() {
  const passkeys = useQuery({ queryKey: ['passkeys'], queryFn: signIn.passkeys })
  const remove = useChange(signIn.removePasskey)
  const add = useChange(async (name: string) => {
    const optionsJSON = await signIn.passkeyOptions()
    return signIn.addPasskey({ name, passkey: await startRegistration({ optionsJSON }) })
  })
  const form = useFaultFocus(add.error)
  const [name, setName] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!add.isPending) add.mutate(name)
  }
  return (
    <section aria-labelledby="passkeys-title" className="space-y-3">
      <h2 id="passkeys-title">Passkeys</h2>
      <Progress query={passkeys} />
      {remove.error !== null && <Failure error={remove.error} />}
      <ul className="space-y-2">
        {(passkeys.data ?? []).map((passkey) => (
          <PasskeyItem
            key={passkey.passkey_id}
            passkey={passkey}
            onRemove={() => remove.mutate(passkey)}
          />
        ))}
      </ul>
      <form ref={form} onSubmit={submit} className="panel space-y-4 p-5">
        <Field
          name="name"
          label="Name of the new passkey"
          placeholder="My phone"
          value={name}
          onChange={setName}
          error={add.error}
        />
        <FormFailure error={add.error} fields={['name']} />
        <button type="submit" className="button" aria-busy={add.isPending}>
          Add a passkey
        </button>
      </form>
    </section>
  )
}

function PasskeyItem({ passkey, onRemove }: { passkey: Passkey; onRemove: () => void }) {
  const used = passkey.datetime_last_used
  return (
    <li className="panel flex flex-wrap items-center justify-between gap-3 p-4">
      <span className="min-w-0">
        <bdi className="wrap-anywhere">{passkey.name}</bdi>
        <span className="block text-sm text-soft">
          Added {date(passkey.datetime_created)}
          {used === null ? ', not used yet' : `, last used ${date(used)}`}
        </span>
      </span>
      <button
        type="button"
        className="button button-small"
        aria-label={`Remove ${passkey.name}`}
        onClick={onRemove}
      >
        Remove
      </button>
    </li>
  )
}

function RecoveryCodes({ left }: { left: number }) {
  const make = useChange(signIn.newRecoveryCodes)
  return (
    <section aria-labelledby="codes-title" className="space-y-3">
      <h2 id="codes-title">Recovery codes</h2>
      <p>
        Each logs you in once when your second factor is lost. You have {left} left. New codes
        replace the old ones.
      </p>
      {make.error !== null && <Failure error={make.error} />}
      {make.data !== undefined && (
        <div role="status" className="panel space-y-3 p-5">
          <p>Write them down now: they are not shown again.</p>
          <ul className="grid gap-x-6 gap-y-1 font-mono text-sm sm:grid-cols-2">
            {make.data.map((code) => (
              <li key={code}>{code}</li>
            ))}
          </ul>
        </div>
      )}
      <button
        type="button"
        className="button"
        aria-busy={make.isPending}
        onClick={() => make.isPending || make.mutate(undefined)}
      >
        Get new recovery codes
      </button>
    </section>
  )
}
