import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SNIPPETS, type SnippetName, snippetFor } from './merchant-snippets.ts'

const readme = readFileSync(new URL('../tag/README.md', import.meta.url), 'utf8')

test('shows the snippets of the tag’s README, which browsers test, with the shop’s own values', () => {
  const shop = { service: 'https://s.example', merchId: 7, clickParam: 'ref', windowDays: 14 }
  for (const name of Object.keys(SNIPPETS) as SnippetName[]) {
    const [, given] = readme.split(`<!-- snippet: ${name} -->\n`)
    const text = given?.replace(/^```\w*\n/, '').split('\n```')[0]
    assert.equal(SNIPPETS[name], text, name)
    assert.doesNotMatch(snippetFor(name, shop), /souk\.example|YOUR-MERCHANT-ID/, name)
  }
  assert.match(snippetFor('merchant-html', shop), /data-merchant="7" data-click-param="ref" data-w/)
  assert.match(snippetFor('merchant-gtm', shop), /'data-window-days', '14'\)\n {4}document/)
  assert.match(snippetFor('shopify', shop), /WINDOW_DAYS = 14\n[\s\S]*\.get\('ref'\)/)
})
