/**
 * Loaded by the page tag when the address ends in `#souk-debug`, and by `souk check-page`:
 * `souk.report()` says what the tag does link by link, the overlay shows it.
 */
import { outlineLinks, showOverlay } from './overlay.ts'
import { probePolicy } from './probe.ts'
import { reportPage } from './report.ts'

window.souk ??= {}
window.souk.report = reportPage
window.souk.probe = probePolicy
window.souk.outline = () => void outlineLinks(reportPage())
if (location.hash === '#souk-debug') showOverlay(reportPage)
