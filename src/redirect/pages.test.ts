import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leavingPage, messagePage, retryPage } from './pages.ts'

test('a page for readers has a main landmark, the reader’s colour scheme, and breaks long hosts', () => {
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

test('names on a page are text, never markup', () => {
  const { body } = messagePage(400, '<i>', '"&\'')
  assert.ok(String(body).includes('<h1>&lt;i&gt;</h1><p>&quot;&amp;&#39;</p>'))
})

test('loads nothing into a page for readers, and cannot be framed', () => {
  for (const { headers } of [leavingPage('https://x.example/'), messagePage(404, 't', 'x')]) {
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; style-src 'unsafe-inline'; /)
    assert.match(policy, /frame-ancestors 'none'/)
  }
})

test('sends other sites our origin as referrer, without the session in the path', () => {
  for (const { headers } of [leavingPage('https://x.example/'), messagePage(404, 't', 'x')]) {
    assert.equal(headers['referrer-policy'], 'strict-origin')
  }
})

test('sends no referrer when a page of ours retries a click', () => {
  assert.equal(retryPage().headers['referrer-policy'], 'no-referrer')
})
