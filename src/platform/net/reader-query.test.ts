import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReaderQuery } from './reader-query.ts'

const read = (text: string) => readReaderQuery(text).get('name')

test('reads a parameter behind an HTML-escaped ampersand, however it was escaped', () => {
  for (const escaped of [
    'amp;',
    'amp%3B',
    'AMP;',
    'amp;amp;',
    '#038;',
    '%23038;',
    '%23038%3B',
    '#38;',
    '#x26;',
    '#X0026;',
    'amp;%23038;',
  ]) {
    assert.equal(read(`url=x&${escaped}name=a%20b`), 'a b', escaped)
    assert.equal(read(`?${escaped}name=a`), 'a', escaped)
  }
})

test('keeps the plain parameter where both are there, and the first of two escaped ones', () => {
  assert.equal(read('amp;name=no&name=yes'), 'yes')
  assert.equal(read('name=&amp;name=no'), '')
  assert.equal(read('amp;name=first&amp;name=second'), 'first')
})

test('leaves every other name and every value as written', () => {
  for (const text of ['amp=1', 'lamp;name=x', 'x=amp;name', 'amp;', 'amp;=x', '#39;name=x']) {
    const plain = [...new URLSearchParams(text)]
    assert.deepEqual([...readReaderQuery(text)].slice(0, plain.length), plain, text)
    assert.equal(read(text), null, text)
  }
})
