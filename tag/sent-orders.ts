/** Which orders were sent to a merchant of a network: a shop may sell through several. */
import { readList, writeList } from './outbox.ts'

/** Order ids that a browser remembers. */
const SENT_MAX = 50

export interface SentOrders {
  _has(id: string): boolean
  _add(id: string): void
}

/** Those of this page, and but for a test those of earlier ones. */
export const openSentOrders = (shop: string, isTest: boolean): SentOrders => {
  const key = `souk_orders ${shop}`
  const here: string[] = []
  return {
    // Read each time: another copy of this tag on the page may just have sent it.
    _has: (id) => [...here, ...readList(key)].includes(id),
    _add(id) {
      here.unshift(id)
      if (!isTest) writeList(key, [id, ...readList(key)].slice(0, SENT_MAX))
    },
  }
}
