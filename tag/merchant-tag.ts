/**
 * The merchant tag: `<script async src="{base_url}/tag/souk-merchant.js" data-merchant="ID">`.
 *
 * Landing: stores the click id of the URL in a first-party cookie. Page view: reported only for
 * visitors who came through the service. Checkout: `window.SOUK_ORDER` or `souk('checkout',
 * {...})`, once per order. The tag never throws into the shop's page.
 */
import { findChanges, type OrderInput, readCheckout } from './checkout.ts'
import { openClickIds } from './click-ids.ts'
import { openOutbox } from './outbox.ts'
import { openSentOrders } from './sent-orders.ts'
import { showMessage } from './test-panel.ts'
import { toJson } from './to-json.ts'

interface Command {
  (command: string, input?: OrderInput): void
  /** Calls made before the tag loaded. */
  q?: ArrayLike<unknown>[]
}
interface ShopWindow {
  souk?: Command
  SOUK_ORDER?: OrderInput
}

const main = (): void => {
  // An image or form named `currentScript` shadows that property and has no `text`.
  let script = document.currentScript as HTMLScriptElement
  if (script?.text == null)
    script = document.querySelector('script[data-merchant]') as typeof script
  const shop = window as unknown as ShopWindow
  const { merchant, clickParam, windowDays } = script.dataset
  const isTest = 'test' in script.dataset || /[?#].*souk-test/.test(location.href)
  const endpoint = `${script.src.split('/tag/souk')[0]}/api/v1/events/conversions/`
  const clicks = openClickIds(clickParam || 'cid', +(windowDays as string) || 30)
  const post = isTest ? null : openOutbox(`${endpoint}checkout/`)
  const isSent = openSentOrders(`${merchant} ${endpoint}`, isTest)

  const message = (event: object): object => ({
    organization_type: 'merchant',
    organization_id: +(merchant as string),
    user: { source_url: bare(location.href), previous_url: bare(document.referrer) },
    events: [event],
  })

  const checkout = (input: OrderInput): void => {
    const event = readCheckout(input, clicks._list())
    const { id } = event.order
    const isRepeat = isSent(id)
    if (isTest) {
      showMessage(isRepeat ? 'checkout (a repeat: suppressed)' : 'checkout', message(event))
      const changes = findChanges(input, event)
      if (changes[0]) showMessage('checkout: corrected', changes)
    }
    if (!isRepeat) post?.(toJson(message(event)))
  }

  const take: Command = (command, input) => {
    try {
      if (command === 'checkout' && input) checkout(input)
    } catch (problem) {
      // Shown to the shop's developer in test mode only, never to a buyer.
      if (isTest) showMessage('checkout: not sent', problem)
    }
  }
  const earlier = shop.souk?.q || []
  shop.souk = shareName(take, shop.souk)
  for (const { 0: command, 1: input } of earlier) take(command as string, input as OrderInput)

  const readPage = (): void => {
    if (shop.SOUK_ORDER) take('checkout', shop.SOUK_ORDER)
  }
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', readPage)
  else readPage()

  // Sent last: browsers with strict privacy settings may lack `sendBeacon`, and the order must
  // still be sent.
  const click_ids = clicks._list()
  if (click_ids[0]) {
    const view = message({ click_ids: click_ids.slice(0, 1), is_landing: clicks._isLanding })
    if (isTest) showMessage('page view', view)
    else navigator.sendBeacon(`${endpoint}page_view/`, toJson(view))
  } else if (isTest) showMessage('page view: not sent', 'no click is stored')
}

/** The query of a thank-you page may contain personal data of the buyer. */
const bare = (address: string): string => address.replace(/[?#].*/, '')

/** The page tag reads its settings from the object it found, so later settings go there. */
const shareName = (take: Command, before: Command | undefined): Command => {
  const souk: Command = (command, input) => {
    take(command, input)
    // Another network's tag, or the page's queue for tags that load later.
    if (typeof before === 'function') before(command, input)
  }
  return before
    ? new Proxy(souk, {
        get: (_, name) => before[name as 'q'],
        set(_, name, value) {
          before[name as 'q'] = value
          return true
        },
      })
    : souk
}

try {
  main()
} catch {
  // The shop's page stays as it is.
}
