/**
 * Loaded by the page tag when the address ends in `#souk-debug`, and by `souk check-page`:
 * `souk.report()` says what the tag does link by link, the overlay shows it.
 */
import { outlineLinks, showOverlay } from './overlay.ts'
import { probePolicy } from './probe.ts'
import { reportPage } from './report.ts'
import type { SoukGlobal } from './souk-global.ts'

window.souk = window.souk ?? {}
const settings: SoukGlobal = window.souk
const report = () => reportPage(settings)
settings.report = report
settings.probe = probePolicy
settings.outline = () => void outlineLinks(settings, report())
if (location.hash === '#souk-debug') showOverlay(settings, report)
