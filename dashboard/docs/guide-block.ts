/** Renders the blocks of the guides that are not plain code. */
import { type Html, html } from '../../src/platform/text/html.ts'
import type { Operation } from './api-description.ts'
import { withOwnWords } from './code-block.ts'
import { codeTabs, type Tab } from './code-tabs.ts'
import { callOf, LANGUAGES, writeCall } from './example-call.ts'
import { GUIDE_EXAMPLES } from './guide-examples.ts'

/**
 * `example NAME` is a call of guide-examples.ts; `own-values` says whose values the page shows, and
 * the scopes that its examples need.
 */
export function renderGuideBlock(
  operations: readonly Operation[],
  language: string,
  code: string,
): Html | null {
  if (language === 'example') return codeTabs(code, exampleTabs(operations, code))
  if (language !== 'own-values') return null
  const [organization = '', ...scopes] = code.split(' ')
  return ownPanel(organization, scopes)
}

export function exampleTabs(operations: readonly Operation[], name: string): Tab[] {
  const example = GUIDE_EXAMPLES[name]
  const operation = operations.find(({ operationId }) => operationId === example?.operationId)
  if (example === undefined || operation === undefined) throw new Error(`no example ${name}`)
  const call = callOf(operation, example.values)
  return LANGUAGES.map((language) => ({ name: language, code: writeCall(call, language) }))
}

/** A script replaces the sentence for a reader who is signed in (reader/own-values.ts). */
function ownPanel(organization: string, scopes: readonly string[]): Html {
  const word = organization === 'merchant' ? 'YOUR-MERCHANT-ID' : 'YOUR-SLUG'
  return html`<div class="own-panel" data-organization="${organization}" data-scopes="${scopes.join(' ')}">
    <p>The examples contain placeholders such as ${withOwnWords(word)}.
    <a class="link" href="/dashboard/">Log in</a>, then reload this page to see your own values.</p></div>`
}
