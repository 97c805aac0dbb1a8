/**
 * Shows one example in several languages as tabs. They are radio buttons, so they work without
 * script; a script remembers the chosen language (reader/language.ts).
 */
import { type Html, html } from '../../src/platform/text/html.ts'
import { codeBlock } from './code-block.ts'

export interface Tab {
  readonly name: string
  readonly code: string
}

/** `id` is unique on its page. */
export function codeTabs(id: string, tabs: readonly Tab[]): Html {
  const named = tabs.map((tab, at) => ({ ...tab, key: `${id}-${at}`, at }))
  return html`<div class="tabs">
    <fieldset><legend class="sr-only">Language of the example</legend>${named.map(
      ({ name, key, at }) =>
        html`<input type="radio" name="${id}" id="${key}" value="${name}"${at === 0 ? html` checked` : null}><label for="${key}">${name}</label>`,
    )}</fieldset>
    ${named.map(({ code, at }) => html`<div class="pane pane-${at}">${codeBlock(code)}</div>`)}
  </div>`
}
