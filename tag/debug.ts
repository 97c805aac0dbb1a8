/**
 * Loaded by the page tag when the URL ends in `#souk-debug`, and by `souk check-page`.
 * `souk.report()` returns what the tag does with each link; the overlay shows it.
 */
import type { DebugTools } from '../src/check-page/page-report.ts'
import { outlineLinks, showOverlay } from './overlay.ts'
import { probePolicy } from './probe.ts'
import { reportPage } from './report.ts'
import type { SoukGlobal } from './souk-global.ts'

const tools: DebugTools = {
  report: reportPage,
  probe: probePolicy,
  outline: () => void outlineLinks(reportPage()),
}
// A frozen object or a text is replaced by a new object.
window.souk = Object.isExtensible(window.souk)
  ? Object.assign(window.souk as SoukGlobal, tools)
  : { ...window.souk, ...tools }
if (location.hash === '#souk-debug') showOverlay(reportPage)
