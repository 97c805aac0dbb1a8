/**
 * Limits how long a client may take to send a body. Node's own limit is one for all routes of a
 * server, and a file of 1 GiB takes longer than any other body may.
 */
import type { IncomingMessage } from 'node:http'

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>()

/** Calls `onLate` if the body is not there in time. A request without a body has no limit. */
export function limitBodyTimeout(request: IncomingMessage, ms: number, onLate: () => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
  if (length === '0' && coding === undefined) return
  const timer = setTimeout(() => {
    if (!request.complete) onLate()
  }, ms)
  timer.unref()
  timers.set(request, timer)
  request.once('close', () => clearTimeout(timer))
}

/** From here on, the body of this request may take as long as the server lets any take. */
export function allowLongBody(request: IncomingMessage): void {
  clearTimeout(timers.get(request))
}
