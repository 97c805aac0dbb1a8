/** Test mode: shows messages on the page instead of sending them. */
import { toJson } from './to-json.ts'

/** Shows a message; styled through the object model, which any CSP allows. */
export const showMessage = (title: string, body: unknown): void => {
  let panel = document.getElementById('souk-test') as HTMLDetailsElement | null
  if (!panel) {
    panel = document.createElement('details')
    panel.id = 'souk-test'
    panel.open = true
    panel.style.cssText =
      'position:fixed;right:0;bottom:0;z-index:2147483647;padding:12px;' +
      'max-height:60vh;overflow:auto;background:#fffbe6;color:#111;font:12px monospace;' +
      'white-space:pre-wrap;direction:ltr'
    // On a phone the panel may cover the next button to tap: a tap on its first line folds it.
    const summary = document.createElement('summary')
    summary.textContent = 'Souk test mode: nothing is sent.'
    panel.appendChild(summary)
    document.body.appendChild(panel)
  }
  const text = toJson(body).replace(/[{[,](?=["{])|":/g, (mark) => mark + (mark[1] ? ' ' : '\n  '))
  panel.appendChild(document.createTextNode(`\n\n${title}\n${text}`))
}
