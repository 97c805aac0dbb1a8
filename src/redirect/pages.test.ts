import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leavingPage, messagePage, retryPage } from './pages.ts'

test('a page for readers has a main landmark, the scheme of its reader, and breaks a host of any length', () => {
  const host = `${'a'.repeat(60)}.example`
  for (const { body } of [
    leavingPage(`https://${host}/p`),
    messagePage(404, 't', 'x'),
    retryPage(),
  ]) {
    assert.match(String(body), /<body><main><h1>.*<\/main><\/body>/s)
    assert.match(String(body), /h1,a\{[^}]*overflow-wrap:anywhere/)
    assert.match(String(body), /:root\{color-scheme:light dark\}/)
  }
})

test('what a page names is text, never markup', () => {
  const { body } = messagePage(400, '<i>', '"&\'')
  assert.ok(String(body).includes('<h1>&lt;i&gt;</h1><p>&quot;&amp;&#39;</p>'))
})

test('nothing is loaded into a page for readers, and it is loaded into no other', () => {
  for (const { headers } of [leavingPage('https://x.example/'), messagePage(404, 't', 'x')]) {
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; style-src 'unsafe-inline'; /)
    assert.match(policy, /frame-ancestors 'none'/)
  }
})

test('who is gone to from a page for readers learns our name and not the address with its session', () => {
  for (const { headers } of [leavingPage('https://x.example/'), messagePage(404, 't', 'x')]) {
    assert.equal(headers['referrer-policy'], 'strict-origin')
  }
})

test('a click that a page of ours tries again names no page: ours is not where it was made', () => {
  assert.equal(retryPage().headers['referrer-policy'], 'no-referrer')
})
