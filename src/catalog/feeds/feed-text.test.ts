import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import { feedDecoder } from './feed-text.ts'

const TEXT = 'id,title\n1,Crème brûlée – 日本 🍮\n'
const LATIN_TEXT = 'id,title\n1,Crème brûlée – 5 €\n' // Windows-1252 has the dash and the euro.

function decodeInPieces(bytes: Buffer, sizes: readonly number[], servedAs?: string): string {
  const decoder = feedDecoder(servedAs)
  let text = ''
  let at = 0
  for (let index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1
    text += decoder.decode(bytes.subarray(at, at + size))
    at += size
  }
  return text + decoder.end()
}

function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16()
}

function windows1252(text: string): Buffer {
  return Buffer.from([...text].map((c) => ({ '–': 0x96, '€': 0x80 })[c] ?? c.charCodeAt(0)))
}

// The first piece holds at least four bytes: readers of files and sockets give far more.
const pieces = fc.array(fc.integer({ min: 4, max: 9 }), { minLength: 1 })

test('every charset gives the same text, however the bytes are cut into pieces', () => {
  const spellings: [string, Buffer, string][] = [
    ['UTF-8', Buffer.from(TEXT), TEXT],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`), TEXT],
    ['UTF-16LE with a mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), TEXT],
    ['UTF-16BE with a mark', utf16be(`\ufeff${TEXT}`), TEXT],
    ['UTF-16LE', Buffer.from(TEXT, 'utf16le'), TEXT],
    ['UTF-16BE', utf16be(TEXT), TEXT],
    ['Windows-1252', windows1252(LATIN_TEXT), LATIN_TEXT],
    ['ASCII', Buffer.from('id\n1\n'), 'id\n1\n'],
  ]
  fc.assert(
    fc.property(pieces, fc.constantFrom(...spellings), (sizes, [name, bytes, text]) => {
      assert.equal(decodeInPieces(bytes, sizes), text, name)
    }),
  )
})

test('an XML declaration decides, unless it cannot be true', () => {
  const latin = windows1252('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>')
  assert.match(decodeInPieces(latin, [64]), /<a>é<\/a>/)
  const lying = Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a>é</a>')
  assert.match(decodeInPieces(lying, [64]), /<a>é<\/a>/)
  const hopeful = windows1252('<?xml version="1.0" encoding="UTF-8"?><a>Crème brûlée</a>')
  assert.match(decodeInPieces(hopeful, [64]), /<a>Crème brûlée<\/a>/)
  const converted = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>Crème</a>')
  assert.match(decodeInPieces(converted, [64]), /<a>Crème<\/a>/)
  for (const [charset, hex, text] of [
    ['windows-1251', 'd7e0e9', 'Чай'],
    ['ISO-8859-2', 'beb9', 'žš'],
    ['Shift_JIS', '93fa967b', '日本'],
  ] as const) {
    const declared = Buffer.from(`<?xml version="1.0" encoding="${charset}"?><a>`)
    assert.ok(
      decodeInPieces(Buffer.concat([declared, Buffer.from(hex, 'hex')]), [60]).endsWith(text),
    )
  }
  const unknown = Buffer.from('<?xml version="1.0" encoding="x-nobody"?><a>é</a>')
  assert.match(decodeInPieces(unknown, [64]), /<a>é<\/a>/)
})

test('where the bytes are no UTF-8 the charset that a server names is believed, and no other', () => {
  for (const [charset, hex, text] of [
    ['windows-1251', 'd7e0e9', 'Чай'],
    ['iso-8859-2', 'beb9', 'žš'],
    ['Shift_JIS', '93fa967b', '日本'],
    ['utf-8', 'e92c20e8', 'é, è'],
    ['utf-16', 'e92c20e8', 'é, è'],
    ['x-nobody', 'e92c20e8', 'é, è'],
  ] as const) {
    const bytes = Buffer.concat([Buffer.from('id,title\n1,'), Buffer.from(hex, 'hex')])
    for (const size of [4, 5, 6, 64]) {
      assert.equal(decodeInPieces(bytes, [size], charset), `id,title\n1,${text}`, charset)
    }
  }
  // Many servers say the same of every file.
  for (const bytes of [Buffer.from(TEXT), Buffer.from(`\ufeff${TEXT}`, 'utf16le')]) {
    assert.equal(decodeInPieces(bytes, [64], 'iso-8859-2'), TEXT)
  }
  const declared = windows1252('<?xml version="1.0" encoding="windows-1251"?><a>×</a>')
  assert.match(decodeInPieces(declared, [64], 'iso-8859-2'), /<a>Ч<\/a>/)
  for (const name of ['ISO-8859-1', 'windows-1252']) {
    const french = windows1252(`<?xml version="1.0" encoding="${name}"?><a>ê</a>`)
    assert.match(decodeInPieces(french, [64], 'iso-8859-2'), /<a>ê<\/a>/, name)
  }
})

test('a stray byte among right UTF-8 costs one character, not every other', () => {
  const stray = Buffer.concat([Buffer.from(TEXT), windows1252('2,Thé\n'), Buffer.from(TEXT)])
  assert.equal(decodeInPieces(stray, [64]), `${TEXT}2,Th\ufffd\n${TEXT}`)
  const few = Buffer.concat([Buffer.from('1,Thé\n'), windows1252('2,Thé\n')])
  assert.equal(decodeInPieces(few, [64]), '1,Thé\n2,Th\ufffd\n')
  const added = Buffer.concat([Buffer.from('1,Thé\n2,Th'), Buffer.from('c3f4a9', 'hex')])
  assert.equal(decodeInPieces(added, [64]), '1,Thé\n2,Th\ufffd\ufffd\ufffd')
  // Windows-1252 may hold what looks like one character of UTF-8.
  const accidental = windows1252('1,Crème brûlée, Â©\n')
  assert.equal(decodeInPieces(accidental, [64]), '1,Crème brûlée, Â©\n')
})

test('a stray byte before all right UTF-8 spoils none of it', () => {
  const ascii = '<?xml version="1.0" encoding="UTF-8"?><a>\n'.repeat(4)
  const cut = Buffer.from('crème').subarray(0, 3)
  const feed = Buffer.concat([Buffer.from(ascii), cut, Buffer.from(ascii + TEXT)])
  assert.equal(decodeInPieces(feed, [64]), `${ascii}crÃ${ascii}${TEXT}`)
})

test('a feed cut inside a character still gives all that came before', () => {
  const cut = Buffer.from('crème').subarray(0, 3)
  assert.equal(decodeInPieces(cut, [8]).slice(0, 2), 'cr')
})
