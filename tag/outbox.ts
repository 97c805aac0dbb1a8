/**
 * Delivers messages that must arrive. They stay in local storage until the service responds, and
 * are retried after a pause and on the next page. Without local storage they last as long as the
 * page.
 */

import { toJson } from './to-json.ts'

/** Orders of one visitor that stay stored while the service is unreachable. */
const MESSAGES_MAX = 5
const FIRST_PAUSE_MS = 2000
const TRIES_MAX = 4
/** Statuses from here on are temporary (429) or failures (5xx); lower ones are final. */
const REFUSED = 429

/** Reads a list from local storage; empty when storage is empty or forbidden. */
export const readList = (key: string): string[] => {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(key) || '[]')
    // An older release stored a text when the page had patched `Array`.
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

export const writeList = (key: string, list: string[]): void => {
  try {
    localStorage.setItem(key, toJson(list))
  } catch {
    // Storage is full or forbidden: the list lasts as long as the page.
  }
}

export const openOutbox = (url: string): ((body: string) => void) => {
  const key = `souk_outbox ${url}`
  let waiting = readList(key)
  let tries = 0
  let isSending = false
  const change = (edit: (list: string[]) => string[]): void => {
    waiting = edit(waiting)
    // Read each time: another tab may have added an order.
    writeList(key, edit(readList(key)))
  }
  const send = (): void => {
    const body = waiting[0]
    if (!body || isSending) return
    isSending = true
    // text/plain avoids a preflight, which a thank-you page may not live to see.
    fetch(url, { method: 'POST', body, keepalive: true, credentials: 'omit' })
      .then(({ status }) => {
        if (status >= REFUSED) throw status
        tries = 0
        change((list) => {
          // Without `filter`, which old libraries replace.
          const others: string[] = []
          for (const other of list) if (other !== body) others.push(other)
          return others
        })
      })
      .catch(() => FIRST_PAUSE_MS << tries++)
      .then((pauseMs) => {
        isSending = false
        // No pause after a response.
        if (tries < TRIES_MAX) setTimeout(send, pauseMs as number)
      })
  }
  send()
  return (body) => {
    change((list) => [...list, body].slice(-MESSAGES_MAX))
    send()
  }
}
