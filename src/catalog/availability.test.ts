import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAvailability } from './availability.ts'

test('every usual spelling of in and out of stock is understood', () => {
  for (const text of [
    'in stock',
    'in_stock',
    'InStock',
    'https://schema.org/InStock',
    ' IN-STOCK ',
  ]) {
    assert.equal(readAvailability(text), true, text)
  }
  for (const text of [
    'out of stock',
    'out_of_stock',
    'OutOfStock',
    'http://schema.org/OutOfStock',
    'preorder',
    'PreOrder',
    'pre-order',
    'backorder',
    'https://schema.org/BackOrder',
    'sold out',
  ]) {
    assert.equal(readAvailability(text), false, text)
  }
})

test('nothing said counts as in stock, an unknown word as unknown', () => {
  assert.equal(readAvailability(''), true)
  assert.equal(readAvailability('maybe'), null)
  assert.equal(readAvailability('12'), true)
  assert.equal(readAvailability('0'), false)
})
