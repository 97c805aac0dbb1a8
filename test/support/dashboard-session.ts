/** Routes in this process, called from the dashboard by a signed-in user. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type KeyGuard, makeKeyGuard } from '../../src/accounts/require-key.ts'
import { csrfToken } from '../../src/accounts/session.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'
import type { Scope } from './database.ts'
import { startQuietHttp } from './quiet-http.ts'
import { sessionToken } from './session-token.ts'

const BASE_URL = 'http://souk.example'

export interface DashboardSession {
  /** A call below /api/v1/, as the page sends it; with a body it is a POST. */
  call<T>(path: string, body?: object): Promise<{ status: number; json: Answer<T> }>
  /** The response that a browser gets. */
  open(path: string): Promise<{ status: number; headers: OutgoingHttpHeaders; text: string }>
}

interface Answer<T> {
  readonly data: readonly [T]
  readonly error: { readonly code: number; readonly data: readonly { field: string }[] }
}

/** Serves the given routes; signs in any user. */
export async function startDashboard(
  scope: Scope,
  { db, routes }: { db: Db; routes: (keys: KeyGuard) => readonly FastifyPluginAsyncTypebox[] },
): Promise<{ logIn(email: string | null): Promise<DashboardSession> }> {
  const http = await startQuietHttp(scope)
  const now = () => new Date()
  const brandWords = ['service']
  const keys = makeKeyGuard({ db, brandWords, limits: null, baseUrl: BASE_URL, now })
  for (const plugin of routes(keys)) await http.register(plugin)
  const send = async (path: string, { body, cookie }: { body?: object; cookie?: string }) => {
    const answer = await http.inject({
      method: body === undefined ? 'GET' : 'POST',
      url: path,
      ...(body === undefined ? {} : { payload: body }),
      headers: cookie === undefined ? {} : { cookie, 'x-souk-csrf': csrfOf(cookie) },
    })
    return { status: answer.statusCode, headers: answer.headers, text: answer.body }
  }
  const sessionOf = (cookie: { cookie?: string }): DashboardSession => ({
    open: (path) => send(`/api/v1/${path}`, cookie),
    call: async (path, body) => {
      const { status, text } = await send(`/api/v1/${path}`, {
        ...cookie,
        ...(body ? { body } : {}),
      })
      return { status, json: JSON.parse(text) }
    },
  })
  return {
    logIn: async (email) => {
      if (email === null) return sessionOf({})
      return sessionOf({ cookie: `souk_session=${await sessionToken(db, email)}` })
    },
  }
}

const csrfOf = (cookie: string): string => csrfToken(cookie.slice(cookie.indexOf('=') + 1))
