/** `X-Request-Id`: the caller's when it is a sane one, else ours; errors are logged under it. */
import { randomUUID } from 'node:crypto'

const SANE = /^[\w.:-]{1,128}$/

export function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && SANE.test(sent) ? sent : randomUUID()
}
