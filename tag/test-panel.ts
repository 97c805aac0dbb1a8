/** Test mode: what would be sent is shown on the page instead. */

/** Shows a message; styled through the object model, which any CSP allows. */
export const showMessage = (title: string, body: unknown): void => {
  let panel = document.getElementById('souk-test') as HTMLDetailsElement | null
  if (!panel) {
    panel = document.createElement('details')
    panel.id = 'souk-test'
    panel.open = true
    panel.style.cssText =
      'position:fixed;right:0;bottom:0;z-index:2147483647;margin:0;padding:12px;max-width:40em;' +
      'max-height:60vh;overflow:auto;background:#fffbe6;color:#111;font:12px monospace;' +
      'border:2px solid #b8860b;white-space:pre-wrap;direction:ltr'
    // On a phone it may cover what is to be tapped next: its first line folds it.
    const summary = document.createElement('summary')
    summary.textContent = 'Souk test mode: nothing is sent.'
    panel.append(summary)
    document.body.append(panel)
  }
  panel.append(`\n\n${title}\n${JSON.stringify(body, null, 2)}`)
}
