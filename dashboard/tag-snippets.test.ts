import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tagSnippets } from './tag-snippets.ts'

const README = readFileSync(join(import.meta.dirname, '../tag/README.md'), 'utf8')
const own = { serviceUrl: 'https://own.test', linkUrl: 'https://go.own.test', slug: 'daily' }

test('each platform has its snippet of the README, with the publisher’s own values', () => {
  const snippets = tagSnippets(README, own)
  assert.deepEqual(
    snippets.map(({ name }) => name),
    ['html', 'tag-manager', 'wordpress', 'react', 'amp'],
  )
  for (const { name, code } of snippets) {
    assert.doesNotMatch(code, /souk\.example|link\.example|link\\\\\.example|YOUR-SLUG/, name)
    assert.match(code, /daily/, name)
  }
  const amp = snippets.at(-1)?.code ?? ''
  const json = /"application\/json">([\s\S]*?)<\/script>/.exec(amp)?.[1] ?? ''
  assert.equal(JSON.parse(json).attribute.href, '(?!https://go\\.own\\.test/).*')
})

test('leaves out the snippet that needs the link host while that is unknown', () => {
  const names = tagSnippets(README, { ...own, linkUrl: null }).map(({ name }) => name)
  assert.ok(!names.includes('amp') && names.includes('html'))
})
