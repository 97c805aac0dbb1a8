/** Remembers which orders were sent to which merchant: a shop may sell through several networks. */
import { readList, writeList } from './outbox.ts'

/** Order ids that a browser remembers. */
const SENT_MAX = 50

/**
 * Whether an order was sent before, from this page or (except in test mode) an earlier one. Marks
 * it as sent.
 */
export const openSentOrders = (shop: string, isTest: boolean): ((id: string) => boolean) => {
  const key = `souk_orders ${shop}`
  const here: string[] = []
  return (id) => {
    // Read each time: another copy of this tag may just have sent it.
    const list = readList(key)
    const isSent = [...here, ...list].includes(id)
    if (!isSent) {
      here.push(id)
      if (!isTest) writeList(key, [id, ...list].slice(0, SENT_MAX))
    }
    return isSent
  }
}
