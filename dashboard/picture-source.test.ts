import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pictureSource } from './picture-source.ts'

test('a picture is loaded over https, or from the demo on this machine, and nothing else is', () => {
  for (const url of [
    'https://cdn.example/a b.jpg?w=1',
    'http://pictures.localhost:8973/9521000000018.svg',
  ]) {
    assert.equal(pictureSource(url), new URL(url).href)
  }
  for (const url of [
    null,
    '',
    '/1.jpg',
    '//cdn.example/1.jpg',
    'http://cdn.example/1.jpg',
    'http://localhost.example/1.jpg',
    'http://169.254.169.254/',
    'https://name:password@cdn.example/1.jpg',
    'javascript:alert(1)',
    'data:image/svg+xml,<svg onload=alert(1)>',
    'blob:https://cdn.example/1',
    ' java\nscript:alert(1)',
  ]) {
    assert.equal(pictureSource(url), null, String(url))
  }
})
