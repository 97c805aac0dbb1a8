/**
 * What number does a product code stand for, and may it join offers of different merchants?
 *
 * Everything is compared as GTIN-14 (GS1 General Specifications): shorter forms are the same
 * number with zeros before it. A code whose check digit does not hold is kept as text and joins
 * nothing; neither do in-store numbers, which mean something else in the next shop (decisions 4.3).
 */

/**
 * `valid` as written; `formatted` valid once spaces and hyphens are out; `repaired` an 11-digit
 * UPC that lost its leading zero; `restricted` valid, but of a shop's own range; `bad`; `missing`.
 */
export type Gtin =
  | { readonly kind: 'bad' | 'missing'; readonly gtin14: null; readonly format: null }
  | {
      readonly kind: 'valid' | 'formatted' | 'repaired' | 'restricted'
      /** Fourteen digits. */
      readonly gtin14: string
      readonly format: GtinFormat
    }

const BAD: Gtin = { kind: 'bad', gtin14: null, format: null }
const MISSING: Gtin = { kind: 'missing', gtin14: null, format: null }

const DIGITS = /^[0-9]+$/
const ISBN_10 = /^[0-9]{9}[0-9Xx]$/
const NOBODYS_NUMBER = '00000000000000'
const UPC_A_LENGTH = 12

type GtinFormat = 'GTIN-8' | 'GTIN-12' | 'GTIN-13' | 'GTIN-14' | 'ISBN-10'

/** Classifies a product code as a feed or a caller wrote it. Never throws. */
export function readGtin(written: string): Gtin {
  if (written === '') return MISSING
  const text = written.replace(/[\s-]/g, '')
  if (text === '') return written.trim() === '' ? MISSING : BAD
  if (text.length === 10 && ISBN_10.test(text)) return readIsbn10(text, written)
  if (!DIGITS.test(text)) return BAD
  const isRepaired = text.length === UPC_A_LENGTH - 1
  const digits = isRepaired ? `0${text}` : text
  const format = formatOf(digits)
  if (format === null || !hasRightCheckDigit(digits)) return BAD
  const gtin14 = digits.padStart(14, '0')
  // Mod 10 holds for all zeros, but GS1 gives that number to nobody.
  if (gtin14 === NOBODYS_NUMBER) return BAD
  if (isRestricted(gtin14)) return { kind: 'restricted', gtin14, format }
  if (isRepaired) return { kind: 'repaired', gtin14, format }
  return { kind: text === written ? 'valid' : 'formatted', gtin14, format }
}

/** True when equal numbers mean the same product whichever merchant wrote them. */
export function isJoinable(gtin: Gtin): boolean {
  return gtin.gtin14 !== null && gtin.kind !== 'restricted'
}

/** The sum of digits weighted 3, 1, 3 … from the right, check digit included, ends in 0. */
function hasRightCheckDigit(digits: string): boolean {
  let sum = 0
  let weight = 1
  for (let index = digits.length - 1; index >= 0; index--) {
    sum += weight * (digits.charCodeAt(index) - 48)
    weight = 4 - weight
  }
  return sum % 10 === 0
}

function formatOf(digits: string): GtinFormat | null {
  switch (digits.length) {
    case 8:
      return 'GTIN-8'
    case 12:
      return 'GTIN-12'
    case 13:
      return 'GTIN-13'
    case 14:
      return 'GTIN-14'
    default:
      return null
  }
}

/**
 * Restricted circulation: GTIN-8 that begin with 0 or 2, and GS1 prefixes 020-029, 040-049 and
 * 200-299. The first digit of a GTIN-14 is its packaging level, so the prefix begins after it.
 */
function isRestricted(gtin14: string): boolean {
  if (gtin14.startsWith('000000')) return gtin14[6] === '0' || gtin14[6] === '2'
  if (gtin14[1] === '2') return true
  return gtin14[1] === '0' && (gtin14[2] === '2' || gtin14[2] === '4')
}

/** An ISBN-10 is the book's ISBN-13 without 978, with a check digit of its own (mod 11). */
function readIsbn10(text: string, written: string): Gtin {
  let sum = 0
  for (let index = 0; index < 10; index++) {
    const character = text[index] ?? ''
    sum += (10 - index) * (character === 'x' || character === 'X' ? 10 : Number(character))
  }
  if (sum % 11 !== 0) return BAD
  const gtin14 = withCheckDigit(`0978${text.slice(0, 9)}`)
  return { kind: text === written ? 'valid' : 'formatted', gtin14, format: 'ISBN-10' }
}

function withCheckDigit(first13: string): string {
  for (let digit = 0; digit < 9; digit++) {
    if (hasRightCheckDigit(`${first13}${digit}`)) return `${first13}${digit}`
  }
  return `${first13}9`
}
