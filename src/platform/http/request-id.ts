/**
 * `X-Request-Id`: the caller's if it is a sane value, else a new one; errors are logged with it.
 */
import { randomUUID } from 'node:crypto'

const SANE = /^[\w.:-]{1,128}$/

export function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && SANE.test(sent) ? sent : randomUUID()
}
