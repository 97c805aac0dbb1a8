import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replaceLinks } from './replace-links.ts'

const A = { url: 'https://shop.example/p/1', smartLink: 'https://go.example/1?a=1&b=2' }
const B = { url: 'https://shop.example/p/1?x=1&y=2', smartLink: 'https://go.example/2' }
const C = { url: 'https://shop.example/?q=1&r=2', smartLink: 'https://go.example/3?a=1&b=2' }

test('replaces whole URLs only, in text and in HTML', () => {
  const text = `See ${A.url}. Also ${B.url}, not ${A.url}0 or ${A.url}.html.`
  const { text: replaced, changes } = replaceLinks(text, [A, B])
  assert.equal(replaced, `See ${A.smartLink}. Also ${B.smartLink}, not ${A.url}0 or ${A.url}.html.`)
  assert.deepEqual(
    changes.map(({ url, before }) => [url, before.slice(-4)]),
    [
      [A.url, 'See '],
      [B.url, 'lso '],
    ],
  )
})

test('in HTML, replaces the escaped targets of links and leaves visible text', () => {
  const written = 'https://shop.example/?q=1&amp;r=2'
  assert.equal(
    replaceLinks(`<a href="${written}">${written}</a>`, [C], { isHtml: true }).text,
    `<a href="https://go.example/3?a=1&amp;b=2">${written}</a>`,
  )
})

test('an article without such links stays as it is', () => {
  assert.deepEqual(replaceLinks('No links.', [A]), { text: 'No links.', changes: [] })
  assert.deepEqual(replaceLinks('No links.', []), { text: 'No links.', changes: [] })
})
