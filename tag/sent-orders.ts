/** Which orders were sent to a merchant of a network: a shop may sell through several. */
import { readList, writeList } from './outbox.ts'

/** Order ids that a browser remembers. */
const SENT_MAX = 50

/**
 * Whether an order was sent before, from this page or but for a test from an earlier one; from now
 * on it was.
 */
export const openSentOrders = (shop: string, isTest: boolean): ((id: string) => boolean) => {
  const key = `souk_orders ${shop}`
  const here: string[] = []
  return (id) => {
    // Read each time: another copy of this tag on the page may just have sent it.
    const list = readList(key)
    const isSent = [...here, ...list].includes(id)
    if (!isSent) {
      here.push(id)
      if (!isTest) writeList(key, [id, ...list].slice(0, SENT_MAX))
    }
    return isSent
  }
}
