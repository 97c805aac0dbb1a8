/** `window.souk`, the tag's one global: what the page wrote into it, and what the tag adds. */
import type { Parts } from './page-session.ts'
import type { ProbeAddresses } from './probe.ts'
import type { PageSettings } from './settings.ts'

export interface SoukGlobal extends PageSettings {
  /** Written by the overlay's script: what the tag makes of each link of the page. */
  report?: () => unknown
  /** Likewise: draws around each link what becomes of it. */
  outline?: () => void
  /** Likewise: what the page's security policy keeps the tag from. */
  probe?: (addresses: ProbeAddresses) => Promise<string[]>
}

declare global {
  interface Window {
    souk?: SoukGlobal
  }
  interface Navigator {
    /**
     * For the overlay. Its presence marks a running tag; what it lacks is still waited for. It is
     * here because a page may replace its `souk` and its body, and name an element as it likes.
     */
    souk?: Parts
  }
}
