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
    'schema.org/InStock',
    'https://www.schema.org/InStock',
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
})

test('a column that counts what is left says so: less than nothing is oversold', () => {
  for (const count of ['12', '1.0', '10.0000']) assert.equal(readAvailability(count), true, count)
  for (const count of ['0', '0.0000', '-3', ' -1.0 ']) {
    assert.equal(readAvailability(count), false, count)
  }
  assert.equal(readAvailability('12 left'), null, 'words beside a number are words')
})

test('reads the words for stock of the large languages', () => {
  const available = [
    ...['auf Lager', 'Sofort lieferbar', 'en stock', 'Disponible', 'disponibile', 'Em estoque'],
    ...['op voorraad', 'W magazynie', 'i lager', 'på lager', 'skladem', 'raktáron', 'în stoc'],
    ...[
      'в наличии',
      'Є в наявності',
      'stokta var',
      'διαθέσιμο',
      '在庫あり',
      '有货',
      '재고 있음',
      'متوفر',
    ],
    ...[
      'במלאי',
      'tersedia',
      'còn hàng',
      'มีสินค้า',
      '12 in stock',
      'In stock (3)',
      '>10',
      '10+',
      'ja',
    ],
  ]
  for (const word of available) assert.equal(readAvailability(word), true, word)
  const gone = [
    ...['nicht lieferbar', 'ausverkauft', 'rupture de stock', 'Épuisé', 'agotado', 'sin stock'],
    ...['esaurito', 'esgotado', 'uitverkocht', 'niedostępny', 'slutsåld', 'utsolgt', 'vyprodáno'],
    ...[
      'elfogyott',
      'нет в наличии',
      'tükendi',
      'εξαντλημένο',
      '在庫なし',
      '缺货',
      '품절',
      'غير متوفر',
    ],
    ...[
      'habis',
      'hết hàng',
      'SOLDOUT',
      'sur commande',
      'vorbestellbar',
      '0 in stock',
      '0+',
      'nein',
    ],
  ]
  for (const word of gone) assert.equal(readAvailability(word), false, word)
  for (const word of ['EPUISE', 'Niedostepny', 'TÜKENDİ', 'tukendi', 'nao disponivel']) {
    assert.equal(readAvailability(word), false, `${word}, which lost its accents`)
  }
  for (const word of ['flurble', '3 Wochen', 'in']) assert.equal(readAvailability(word), null, word)
})
