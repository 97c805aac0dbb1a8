/** Where the user is logged in, and the end of any other session. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { browserName } from '../browser-name.ts'
import { date, time } from '../format.ts'
import { signIn } from '../sign-in-api.ts'
import { Failure, Progress } from '../ui/notice.tsx'

export function Sessions() {
  const client = useQueryClient()
  const list = useRef<HTMLUListElement>(null)
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: signIn.sessions })
  const end = useMutation({
    mutationFn: signIn.endSession,
    onSuccess: () => {
      list.current?.focus() // The button of the session disappears.
      return client.invalidateQueries({ queryKey: ['sessions'] })
    },
  })
  return (
    <section aria-labelledby="sessions-title" className="space-y-3">
      <h2 id="sessions-title">Where you are logged in</h2>
      <p className="text-sm text-soft">
        End a session that you do not recognize, and change your password.
      </p>
      <Progress query={sessions} />
      {end.error !== null && <Failure error={end.error} />}
      <ul ref={list} tabIndex={-1} className="panel divide-y divide-line outline-none empty:hidden">
        {(sessions.data ?? []).map((session) => {
          const name = browserName(session.user_agent)
          return (
            <li
              key={session.session_id}
              className="flex flex-wrap items-center justify-between gap-3 px-4 py-3"
            >
              <span className="min-w-0">
                <bdi className="wrap-anywhere" title={session.user_agent}>
                  {name}
                </bdi>
                <span className="number block text-sm text-soft">
                  {session.address} · active {date(session.datetime_last_used)},{' '}
                  {time(session.datetime_last_used).slice(0, 5)} UTC
                </span>
              </span>
              {session.is_current ? (
                <span className="chip bg-tint text-accent">This browser</span>
              ) : (
                <button
                  type="button"
                  className="button button-small"
                  aria-label={`End the session of ${name}`}
                  onClick={() => end.isPending || end.mutate(session.session_id)}
                >
                  End
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
