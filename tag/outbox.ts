/**
 * Messages that must arrive: kept in local storage until the service has answered, tried again
 * after a pause and on the next page. Without local storage they live as long as the page.
 */

import { toJson } from './to-json.ts'

/** A shop that cannot be reached for this many orders of one visitor is not reached at all. */
const MESSAGES_MAX = 5
const FIRST_PAUSE_MS = 2000
const TRIES_MAX = 4
/** Statuses from here on say "not now" (429) or "broken" (5xx); below them lie answers. */
const REFUSED = 429

/** Reads a list from local storage; empty when there is none or it may not be used. */
export const readList = (key: string): string[] => {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(key) || '[]')
    // A page that patches arrays had the tag of an older release write one text instead.
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

export const writeList = (key: string, list: string[]): void => {
  try {
    localStorage.setItem(key, toJson(list))
  } catch {
    // Storage is full or forbidden: the list lives as long as the page.
  }
}

export const openOutbox = (url: string): ((body: string) => void) => {
  const key = `souk_outbox ${url}`
  let waiting = readList(key)
  let tries = 0
  let isSending = false
  const change = (edit: (list: string[]) => string[]): void => {
    waiting = edit(waiting)
    // Read each time: another tab may have left an order there.
    writeList(key, edit(readList(key)))
  }
  const send = (): void => {
    const body = waiting[0]
    if (!body || isSending) return
    isSending = true
    // text/plain, so that no preflight stands between a thank-you page and the order.
    fetch(url, { method: 'POST', body, keepalive: true, credentials: 'omit' })
      .then(({ status }) => {
        if (status >= REFUSED) throw status
        tries = 0
        change((list) => {
          // Not by `filter`, which old libraries of pages replace.
          const others: string[] = []
          for (const other of list) if (other !== body) others.push(other)
          return others
        })
      })
      .catch(() => FIRST_PAUSE_MS << tries++)
      .then((pauseMs) => {
        isSending = false
        // After an answer there is no pause.
        if (tries < TRIES_MAX) setTimeout(send, pauseMs as number)
      })
  }
  send()
  return (body) => {
    change((list) => [...list, body].slice(-MESSAGES_MAX))
    send()
  }
}
