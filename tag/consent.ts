/**
 * What the reader allowed, read before any identifier exists (decisions 4.6).
 *
 * Any refusal wins over any permission: Global Privacy Control, then what the page's consent tools
 * say (TCF purpose 1; GPP opt-out of sale or sharing), then what the page itself says. A tool that
 * is there but has not heard the reader yet counts as a refusal until it has.
 */

import type { PageSettings } from './settings.ts'

type Source = 'gpc' | 'tcf' | 'gpp' | 'page'

/** As events and auctions carry it. */
export interface Consent {
  consent: 'full' | 'contextual' | 'unknown'
  consent_source: Source | undefined
}

/** Consent tools and readers have this long to answer; then their silence is the answer. */
const PATIENCE_MS = 1000

interface TcData {
  eventStatus?: string
  gdprApplies?: boolean
  purpose?: { consents?: Record<string, boolean> }
}
interface GppEvent {
  pingData?: { signalStatus?: string; parsedSections?: unknown }
}
interface ConsentWindow {
  __tcfapi?: (command: string, version: number, listener: (data: TcData | null) => void) => void
  __gpp?: (command: string, listener: (event: GppEvent | null) => void) => void
  souk?: PageSettings
}

/**
 * Listens to the page's consent tools; resolves once each has heard the reader or its time is up.
 * The function it resolves to gives the reader's choice as it is then: call it for each request.
 */
export const watchConsent = async (): Promise<() => Consent> => {
  const { __tcfapi, __gpp } = window as ConsentWindow
  // True: allowed, false: refused. The first refusal in this order is the one that is named.
  const told: Partial<Record<Source, boolean | undefined>> = {
    gpc: !(navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl && undefined,
  }
  const heard = [
    __tcfapi &&
      new Promise<unknown>((resolve) => {
        told.tcf = false
        __tcfapi('addEventListener', 2, (data) => {
          // The reader's answer, or the lack of one while the banner is up. Where the law does not
          // apply nobody asked: that is no permission.
          told.tcf = data?.gdprApplies === false ? undefined : !!data?.purpose?.consents?.[1]
          if (data?.eventStatus !== 'cmpuishown') resolve(0)
        })
      }),
    __gpp &&
      new Promise<unknown>((resolve) => {
        told.gpp = false
        __gpp('addEventListener', (event) => {
          if (event?.pingData?.signalStatus !== 'ready') return
          const sections = JSON.stringify(event.pingData.parsedSections)
          // One text search for all states' sections, nested or flat. A string that knows no
          // choice (a European one, or "not applicable") says nothing here.
          told.gpp = GPP_REFUSAL.test(sections) ? false : GPP_PERMISSION.test(sections) || undefined
          resolve(0)
        })
      }),
  ]
  await new Promise((resolve) => {
    setTimeout(resolve, PATIENCE_MS)
    // A tool that throws has not heard the reader: a refusal, whatever the other says later.
    Promise.all(heard).then(resolve, resolve)
  })
  return () => {
    // Looked up each time: a page may write a new object where the tag found another.
    const said = (window as ConsentWindow).souk?.consent
    told.page = said && said === 'full'
    const sources = Object.keys(told) as Source[]
    const refusing = sources.find((source) => told[source] === false)
    const consent_source = refusing || sources.find((source) => told[source])
    const consent = refusing ? 'contextual' : consent_source ? 'full' : 'unknown'
    return { consent, consent_source }
  }
}

const GPP_REFUSAL = /(Sale|Sharing)OptOut":1\b|OptOutSale":"Y|"Gpc":(true|1)/
const GPP_PERMISSION = /(Sale|Sharing)OptOut":2|OptOutSale":"N/
