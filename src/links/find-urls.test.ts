import assert from 'node:assert/strict'
import { test } from 'node:test'
import { urlsInHtml, urlsInText } from './find-urls.ts'

test('finds the addresses in a text without the punctuation around them', () => {
  const text = `See https://a.example/x, (https://b.example/y) and https://c.example/wiki_(z).
    Again: https://a.example/x! ftp://d.example http://[`
  assert.deepEqual(urlsInText(text), [
    'https://a.example/x',
    'https://b.example/y',
    'https://c.example/wiki_(z)',
  ])
})

test('finds the targets of links in HTML, with its entities and mistakes', () => {
  const html = `<p><a href="https://a.example/?x=1&amp;y=2">A</a> <A HREF=https://b.example/b>B
    <!-- <a href="https://no.example/">no</a> --><a href='/own'>own</a><a>none</a>
    <script>'<a href="https://no.example/">'</script> https://text.example/ <a href="https://c.exa`
  assert.deepEqual(urlsInHtml(html), ['https://a.example/?x=1&y=2', 'https://b.example/b'])
})
