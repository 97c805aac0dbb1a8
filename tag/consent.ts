/**
 * What the reader allowed, read before any identifier exists (decisions 4.6).
 *
 * Any refusal wins over any permission: Global Privacy Control, then what the page's consent tools
 * say (TCF purpose 1; GPP opt-out of sale or sharing), then what the page itself says. A tool that
 * is there but has not heard the reader yet counts as a refusal until it has. Tools that load late
 * are asked when they come.
 */

import type { PageSettings } from './settings.ts'
import { toJson } from './to-json.ts'

type Source = 'gpc' | 'tcf' | 'gpp' | 'page'

/** As events and auctions carry it. */
export interface Consent {
  consent: 'full' | 'contextual' | 'unknown'
  consent_source: Source | undefined
}

/** Consent tools and readers have this long to answer; then their silence is the answer. */
const PATIENCE_MS = 1000
/** Tag managers load a consent tool seconds after the page: so long the tag looks for one. */
const LOOK_MS = 250
const LOOKS_UNTIL_MS = 10_000

interface TcData {
  eventStatus?: string
  gdprApplies?: boolean
  purpose?: { consents?: Record<string, boolean> }
}
interface GppEvent {
  pingData?: { signalStatus?: string; parsedSections?: unknown }
}
/** TCF: the command, its version, a listener; GPP: the command, a listener. */
type Tool = (...call: unknown[]) => void
interface ConsentWindow {
  __tcfapi?: Tool
  __gpp?: Tool
  souk?: PageSettings
}

/**
 * Listens to the page's consent tools; resolves once each has heard the reader or its time is up.
 * The function it resolves to gives the reader's choice as it is then: call it for each request. It
 * also asks a tool that has come, or taken another's place, since the last look
 * (docs/spec/links-and-tags.md#late-consent-tools).
 */
export const watchConsent = async (): Promise<() => Consent> => {
  // True: allowed, false: refused. The first refusal in this order is the one that is named.
  const told: Partial<Record<Source, boolean | undefined>> = {
    gpc: !(navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl && undefined,
  }
  const asked: unknown[] = []
  /** Asks a tool that is new; `read` says whether it has heard the reader. */
  const ask = (source: Source, tool: Tool | undefined, read: (data: never) => unknown): unknown => {
    if (!tool || asked.includes(tool)) return
    asked.push(tool)
    // Until it has heard the reader that is a refusal.
    if (!(source in told)) told[source] = false
    return new Promise<unknown>((resolve) => {
      const listener = (data: unknown): unknown => read(data as never) && resolve(0)
      if (source === 'tcf') tool('addEventListener', 2, listener)
      else tool('addEventListener', listener)
    })
  }
  const look = (): Promise<unknown> =>
    Promise.all([
      ask('tcf', (window as ConsentWindow).__tcfapi, (data: TcData | null) => {
        // The reader's answer, or the lack of one while the banner is up. Where the law does not
        // apply nobody asked: that is no permission.
        told.tcf = data?.gdprApplies === false ? undefined : !!data?.purpose?.consents?.[1]
        return data?.eventStatus !== 'cmpuishown'
      }),
      ask('gpp', (window as ConsentWindow).__gpp, (event: GppEvent | null) => {
        if (event?.pingData?.signalStatus !== 'ready') return
        const sections = toJson(event.pingData.parsedSections)
        // One text search for all states' sections, nested or flat. A string that knows no
        // choice (a European one, or "not applicable") says nothing here.
        told.gpp = GPP_REFUSAL.test(sections) ? false : GPP_PERMISSION.test(sections) || undefined
        return true
      }),
      // A tool that throws has not heard the reader: a refusal, whatever the other says later.
    ]).catch(() => 0)
  for (let ms = LOOK_MS; ms <= LOOKS_UNTIL_MS; ms += LOOK_MS) setTimeout(look, ms)
  await new Promise((resolve) => {
    setTimeout(resolve, PATIENCE_MS)
    look().then(resolve)
  })
  return () => {
    look()
    // Looked up each time: a page may write a new object where the tag found another.
    const said = (window as ConsentWindow).souk?.consent
    told.page = said && said === 'full'
    let consent_source: Source | undefined
    for (const source of ['gpc', 'tcf', 'gpp', 'page'] as const) {
      if (told[source] === false) return { consent: 'contextual', consent_source: source }
      if (told[source]) consent_source ||= source
    }
    return { consent: consent_source ? 'full' : 'unknown', consent_source }
  }
}

const GPP_REFUSAL = /(Sale|Sharing)OptOut":1\b|OptOutSale":"Y|"Gpc":(true|1)/
const GPP_PERMISSION = /(Sale|Sharing)OptOut":2|OptOutSale":"N/
