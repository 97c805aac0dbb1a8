/** `window.souk`, the tag's only global: the page's settings and the tag's functions. */
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
     * For the overlay. Its presence marks a running tag; missing parts are still loading. Stored on
     * the document element, because a page may replace its `souk` and its body.
     */
    souk?: Parts
  }
}
