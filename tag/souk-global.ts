/** `window.souk`, the tag's one global: what the page wrote into it, and what the tag adds. */
import type { DebugTools } from '../src/check-page/page-report.ts'
import type { Parts } from './page-session.ts'
import type { PageSettings } from './settings.ts'

export interface SoukGlobal extends PageSettings, Partial<DebugTools> {}

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
