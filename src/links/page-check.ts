/** Decides whether a page is gone from the results of its checks. Pure. */
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'

/** The answer to a check; a page that refuses programs may still open for readers. */
export type Verdict =
  | { readonly kind: 'there' }
  | { readonly kind: 'gone'; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string }

/** A check of a page as stored. */
export interface PageCheck {
  readonly failedAt: Date | null
  readonly deadSince: Date | null
}

export interface CheckedPage extends PageCheck {
  readonly detail: string | null
  readonly dueAt: Date
}

const NOT_FOUND = 404
const GONE = 410
const SERVER_ERROR = 500

export function verdictOf(status: number): Verdict {
  if (status < 400) return { kind: 'there' }
  const detail = `answered ${status}`
  const isGone = status === NOT_FOUND || status === GONE || status >= SERVER_ERROR
  return isGone ? { kind: 'gone', detail } : { kind: 'unknown', detail }
}

/** One failure may be a moment of the server: the second one, an hour later, counts. */
export function afterCheck(before: PageCheck, verdict: Verdict, now: Date): CheckedPage {
  const tomorrow = new Date(now.getTime() + DAY_MS)
  if (verdict.kind === 'there') {
    return { failedAt: null, deadSince: null, detail: null, dueAt: tomorrow }
  }
  const { detail } = verdict
  if (verdict.kind === 'unknown') return { ...before, detail, dueAt: tomorrow }
  if (before.deadSince !== null) return { ...before, detail, dueAt: tomorrow }
  const isSecond = before.failedAt !== null && now.getTime() - before.failedAt.getTime() >= HOUR_MS
  if (isSecond) return { failedAt: before.failedAt, deadSince: now, detail, dueAt: tomorrow }
  const failedAt = before.failedAt ?? now
  return { failedAt, deadSince: null, detail, dueAt: new Date(failedAt.getTime() + HOUR_MS) }
}
