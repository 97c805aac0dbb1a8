/** Renders code: with a place for the copy button, and the reader's own ids marked. */
import { type Html, html } from '../../src/platform/text/html.ts'

/**
 * Words of examples that stand for the reader's own values, by the name of the value. The page
 * fills them in for a reader who is signed in (reader/own-values.ts).
 */
export const OWN_VALUES = {
  'YOUR-SLUG': 'slug',
  'YOUR-PUBLISHER-ID': 'publisher',
  'YOUR-MERCHANT-ID': 'merchant',
  'YOUR-API-KEY': 'key',
  'YOUR-POSTBACK-SECRET': 'secret',
  'FIRST-DAY': 'first_day',
  'LAST-DAY': 'last_day',
} as const
export type OwnWord = keyof typeof OWN_VALUES

const OWN_WORD = new RegExp(`(${Object.keys(OWN_VALUES).join('|')})`)

export function codeBlock(code: string): Html {
  // A block that scrolls sideways must be reachable by keyboard.
  return html`<div class="code-box"><pre class="code" tabindex="0"><code>${withOwnWords(code)}</code></pre></div>`
}

export function withOwnWords(code: string): Html {
  const parts = code.split(OWN_WORD).map((part) => {
    if (!Object.hasOwn(OWN_VALUES, part)) return part
    return html`<var data-own="${OWN_VALUES[part as OwnWord]}">${part}</var>`
  })
  return html`${parts}`
}
