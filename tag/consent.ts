/**
 * Reads the reader's consent before any identifier exists (tag/README.md, Consent).
 *
 * Any refusal wins over any permission. The order is: Global Privacy Control, the page's consent
 * tools (TCF purpose 1; GPP opt-out of sale or sharing), then the page's own setting. A tool that
 * has no answer from the reader yet counts as a refusal. Late tools are asked when they appear.
 */

import type { PageSettings } from './settings.ts'
import { toJson } from './to-json.ts'

type Source = 'gpc' | 'tcf' | 'gpp' | 'page'

/** The values that events and auctions carry. */
export interface Consent {
  consent: 'full' | 'contextual' | 'unknown'
  consent_source: Source | undefined
}

/** How long the tag waits for consent tools and readers; no answer by then is a refusal. */
const TIMEOUT_MS = 1000
/** Tag managers load a consent tool seconds after the page, so the tag looks for one this long. */
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
 * Listens to the page's consent tools. Resolves once each has the reader's answer or its time is
 * up, to a function that returns the current choice: call it for each request. It also asks tools
 * that appeared or were replaced since the last call
 * (docs/spec/links-and-tags.md#late-consent-tools).
 */
export const watchConsent = async (): Promise<() => Consent> => {
  // True: allowed, false: refused. The first refusal in this order is the one reported.
  const answers: Partial<Record<Source, boolean | undefined>> = {
    gpc: !(navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl && undefined,
  }
  const asked: unknown[] = []
  /** Asks a new tool; `read` returns whether it has the reader's answer. */
  const ask = (source: Source, tool: Tool | undefined, read: (data: never) => unknown): unknown => {
    if (!tool || asked.includes(tool)) return
    asked.push(tool)
    // A refusal until the tool has the reader's answer.
    if (!(source in answers)) answers[source] = false
    return new Promise<unknown>((resolve) => {
      const listener = (data: unknown): unknown => read(data as never) && resolve(0)
      if (source === 'tcf') tool('addEventListener', 2, listener)
      else tool('addEventListener', listener)
    })
  }
  const look = (): Promise<unknown> =>
    Promise.all([
      ask('tcf', (window as ConsentWindow).__tcfapi, (data: TcData | null) => {
        // The reader's answer; undefined while the banner is open. Where the law does not apply
        // nobody was asked, which is not a permission.
        answers.tcf = data?.gdprApplies === false ? undefined : !!data?.purpose?.consents?.[1]
        return data?.eventStatus !== 'cmpuishown'
      }),
      ask('gpp', (window as ConsentWindow).__gpp, (event: GppEvent | null) => {
        if (event?.pingData?.signalStatus !== 'ready') return
        const sections = toJson(event.pingData.parsedSections)
        // One text search covers the sections of all states, nested or flat. A string without such
        // a choice (a European one, or "not applicable") gives no answer.
        answers.gpp = GPP_REFUSAL.test(sections)
          ? false
          : GPP_PERMISSION.test(sections) || undefined
        return true
      }),
      // A tool that throws has no answer: a refusal, whatever the other tool reports.
    ]).catch(() => 0)
  for (let ms = LOOK_MS; ms <= LOOKS_UNTIL_MS; ms += LOOK_MS) setTimeout(look, ms)
  await new Promise((resolve) => {
    setTimeout(resolve, TIMEOUT_MS)
    look().then(resolve)
  })
  return () => {
    look()
    // Looked up each time, because a page may replace the object.
    const said = (window as ConsentWindow).souk?.consent
    answers.page = said && said === 'full'
    let consent_source: Source | undefined
    for (const source of ['gpc', 'tcf', 'gpp', 'page'] as const) {
      if (answers[source] === false) return { consent: 'contextual', consent_source: source }
      if (answers[source]) consent_source ||= source
    }
    return { consent: consent_source ? 'full' : 'unknown', consent_source }
  }
}

const GPP_REFUSAL = /(Sale|Sharing)OptOut":1\b|OptOutSale":"Y|"Gpc":(true|1)/
const GPP_PERMISSION = /(Sale|Sharing)OptOut":2|OptOutSale":"N/
