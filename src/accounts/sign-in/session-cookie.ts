/** The session's cookie: how it is set, replaced and cleared. */
import type { Db } from '../../platform/postgres/postgres.ts'
import { logOut, readSessionCookie, SESSION_SECONDS, sessionCookieName } from '../session.ts'

export const isSecure = (baseUrl: string): boolean => baseUrl.startsWith('https:')

const options = (baseUrl: string) =>
  ({ path: '/', httpOnly: true, secure: isSecure(baseUrl), sameSite: 'strict' }) as const

/** The part of a reply that is written; any Fastify reply has it. */
interface CookieReply {
  setCookie(name: string, value: string, options: object): unknown
  clearCookie(name: string, options: object): unknown
}

/** Puts a new session into the browser's cookie, and ends the one that was there. */
export async function beginSession(
  { db, baseUrl }: { readonly db: Db; readonly baseUrl: string },
  call: {
    readonly request: { readonly headers: { readonly cookie?: string | undefined } }
    readonly reply: CookieReply
    readonly token: string
  },
): Promise<void> {
  const { request, reply, token } = call
  // Otherwise nobody could sign out of this browser's earlier session.
  await logOut(db, readSessionCookie(request.headers.cookie, baseUrl) ?? undefined)
  const name = sessionCookieName(isSecure(baseUrl))
  reply.setCookie(name, token, { ...options(baseUrl), maxAge: SESSION_SECONDS })
}

export function clearSession(reply: CookieReply, baseUrl: string): void {
  reply.clearCookie(sessionCookieName(isSecure(baseUrl)), options(baseUrl))
}
