/**
 * Souk's only reader cookie: a random first-party id, set and read only on redirects and smart
 * links, on Souk's own host, and only with consent.
 */
import { drawRandomBytes } from '../platform/crypto/random-bytes.ts'

const MAX_AGE_SECONDS = 30 * 86_400
const ID = /^[0-9a-f]{32}$/

function cookieName(isHttps: boolean): string {
  return isHttps ? '__Host-souk_visitor' : 'souk_visitor'
}

/** The visitor id that a browser sent; null if none. */
export function readVisitor(cookie: string | undefined, isHttps: boolean): string | null {
  if (cookie === undefined) return null
  const wanted = `${cookieName(isHttps)}=`
  const found = cookie
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(wanted))
  const value = found?.slice(wanted.length) ?? ''
  return ID.test(value) ? value : null
}

export function newVisitor(): string {
  return drawRandomBytes(16).toString('hex')
}

export function visitorCookie(id: string, isHttps: boolean): string {
  const secure = isHttps ? '; Secure' : ''
  return `${cookieName(isHttps)}=${id}; Path=/; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${secure}`
}
