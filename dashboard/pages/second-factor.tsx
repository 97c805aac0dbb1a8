/** The second step of a log-in: a code of an app, a passkey, or a recovery code. */
import { startAuthentication } from '@simplewebauthn/browser'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLogIn } from '../session.ts'
import { type FactorNeeded, passkeyOptionsOf } from '../sign-in-api.ts'
import { Field, FormFailure } from '../ui/field.tsx'
import { Failure } from '../ui/notice.tsx'

export function SecondFactor(props: { needed: FactorNeeded; onAgain: () => void }) {
  const { needed, onAgain } = props
  const { challenge, second_factors: factors } = needed
  const [isLost, setIsLost] = useState(!factors.includes('totp') && !factors.includes('passkey'))
  const logIn = useLogIn()
  const canRecover = factors.includes('recovery_code')
  return (
    <div className="panel mt-6 space-y-4 p-5">
      <h2>Second step</h2>
      {!isLost && factors.includes('passkey') && <PasskeyButton needed={needed} />}
      {!isLost && factors.includes('totp') && (
        <CodeForm
          key="totp"
          label="Code of your authenticator app"
          name="totp"
          logIn={logIn}
          onCode={(totp) => logIn.mutate({ challenge, totp })}
        />
      )}
      {isLost && (
        <CodeForm
          key="recovery"
          label="Recovery code"
          name="recovery_code"
          logIn={logIn}
          onCode={(code) => logIn.mutate({ challenge, recovery_code: code })}
        />
      )}
      <p className="flex flex-wrap justify-between gap-x-4 gap-y-2 text-sm">
        {canRecover && !isLost && (
          <button type="button" className="link" onClick={() => setIsLost(true)}>
            Use a recovery code
          </button>
        )}
        <button type="button" className="link" onClick={onAgain}>
          Start again
        </button>
      </p>
      {!canRecover && (
        <p className="text-sm text-soft">
          Have you lost it? An owner of your organization can reset your second factor.
        </p>
      )}
    </div>
  )
}

function PasskeyButton({ needed }: { needed: FactorNeeded }) {
  const logIn = useLogIn()
  const ask = useMutation({
    mutationFn: async () => {
      const optionsJSON = passkeyOptionsOf(needed)
      if (optionsJSON === null) return
      const passkey = await startAuthentication({ optionsJSON })
      await logIn.mutateAsync({ challenge: needed.challenge, passkey })
    },
  })
  return (
    <>
      {ask.error !== null && <Failure error={ask.error} />}
      <button
        type="button"
        className="button button-main w-full"
        aria-busy={ask.isPending}
        onClick={() => ask.isPending || ask.mutate()}
      >
        Use a passkey
      </button>
    </>
  )
}

function CodeForm(props: {
  label: string
  name: 'totp' | 'recovery_code'
  logIn: ReturnType<typeof useLogIn>
  onCode: (code: string) => void
}) {
  const { label, name, logIn, onCode } = props
  const [code, setCode] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!logIn.isPending) onCode(code.trim())
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      <Field
        name={name}
        label={label}
        inputMode={name === 'totp' ? 'numeric' : 'text'}
        autoComplete="one-time-code"
        autoCapitalize="none"
        value={code}
        onChange={setCode}
        error={logIn.error}
      />
      <FormFailure error={logIn.error} fields={[name]} />
      <button type="submit" className="button button-main w-full" aria-busy={logIn.isPending}>
        Continue
      </button>
    </form>
  )
}
