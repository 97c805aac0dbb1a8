/**
 * Reads a product code as a number, and decides whether it may join offers of different merchants.
 *
 * Everything is compared as GTIN-14 (GS1 General Specifications): shorter forms are the same number
 * with leading zeros. A code with a wrong check digit is stored as text and joins nothing. Neither
 * do in-store numbers, which differ between shops.
 */

/**
 * `valid` as written; `formatted` valid once spaces and hyphens are out; `repaired` an 11-digit
 * UPC that lost its leading zero, or a code that a spreadsheet changed;
 * `restricted` valid, but of a shop's own range; `bad`; `missing`.
 */
export interface Gtin {
  readonly kind: 'valid' | 'formatted' | 'repaired' | 'restricted' | 'bad' | 'missing'
  /** Fourteen digits; null if bad or missing. */
  readonly gtin14: string | null
}

const BAD: Gtin = { kind: 'bad', gtin14: null }
const MISSING: Gtin = { kind: 'missing', gtin14: null }

/** Of a GTIN-8, a UPC-A, an EAN-13 and a GTIN-14. */
const LENGTHS: ReadonlySet<number> = new Set([8, 12, 13, 14])
const DIGITS = /^[0-9]+$/
const ISBN_10 = /^[0-9]{9}[0-9Xx]$/
const NOBODYS_NUMBER = '00000000000000'
const UPC_A_LENGTH = 12

/** Classifies a product code from a feed or a caller. Never throws. */
export function readGtin(written: string): Gtin {
  if (written === '') return MISSING
  const restored = withoutSpreadsheet(written)
  const text = restored.replace(/[\s-]/g, '')
  if (text === '') return written.trim() === '' ? MISSING : BAD
  if (text.length === 10 && ISBN_10.test(text)) return readIsbn10(text, written)
  if (!DIGITS.test(text)) return BAD
  const isRepaired = text.length === UPC_A_LENGTH - 1
  const digits = isRepaired ? `0${text}` : text
  if (!LENGTHS.has(digits.length) || !hasRightCheckDigit(digits)) return BAD
  const gtin14 = digits.padStart(14, '0')
  // Mod 10 holds for all zeros, but GS1 gives that number to nobody.
  if (gtin14 === NOBODYS_NUMBER) return BAD
  if (isRestricted(gtin14)) return { kind: 'restricted', gtin14 }
  if (isRepaired || restored !== written) return { kind: 'repaired', gtin14 }
  return { kind: text === written ? 'valid' : 'formatted', gtin14 }
}

/** `4006381333931.0`, and a decimal comma. */
const WHOLE_NUMBER = /^(\d+)[.,]0*$/
/** `4,006,381,333,931`: thousands, as a cell that is a number shows them. */
const GROUPED = /^\d{1,3}(?:([,.'’\u00a0\u202f])\d{3})(?:\1\d{3})+$/
/** `4.006381333931E+12`. */
const SCIENTIFIC = /^(\d)(?:[.,](\d+))?[eE]\+?(\d{1,2})$/

/**
 * Undoes the changes of a spreadsheet to a code: an apostrophe or `="…"` around it, `.0` behind it,
 * groups of thousands, scientific notation. The last one only with all digits, because lost digits
 * are unknown.
 */
function withoutSpreadsheet(written: string): string {
  if (PLAIN_CODE.test(written)) return written
  const bare = written
    .trim()
    .replace(/^=?"(.*)"$/, '$1')
    .replace(/^['’‘`´“”]+|['’‘`´“”]+$/g, '')
    .trim()
  const whole = WHOLE_NUMBER.exec(bare)?.[1]
  if (whole !== undefined) return whole
  if (GROUPED.test(bare)) return bare.replace(/\D/g, '')
  const [, first = '', others = '', exponent] = SCIENTIFIC.exec(bare) ?? []
  if (exponent === undefined) return bare === written.trim() ? written : bare
  return others.length === Number(exponent) ? `${first}${others}` : written
}

const PLAIN_CODE = /^[\d\s-]*$/

/** The number if equal ones mean the same product at every merchant; else null. */
export function joinableGtin14({ kind, gtin14 }: Gtin): string | null {
  return kind === 'restricted' ? null : gtin14
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

/**
 * Restricted circulation: GTIN-8 that begin with 0 or 2, and GS1 prefixes 020-029, 040-049 and
 * 200-299. The first digit of a GTIN-14 is its packaging level, so the prefix begins after it.
 */
function isRestricted(gtin14: string): boolean {
  if (gtin14.startsWith('000000')) return gtin14[6] === '0' || gtin14[6] === '2'
  if (gtin14[1] === '2') return true
  return gtin14[1] === '0' && (gtin14[2] === '2' || gtin14[2] === '4')
}

/** An ISBN-10 is the book's ISBN-13 without 978, with a different check digit (mod 11). */
function readIsbn10(text: string, written: string): Gtin {
  let sum = 0
  for (let index = 0; index < 10; index++) {
    const character = text[index] ?? ''
    sum += (10 - index) * (character === 'x' || character === 'X' ? 10 : Number(character))
  }
  if (sum % 11 !== 0) return BAD
  const gtin14 = withCheckDigit(`0978${text.slice(0, 9)}`)
  return { kind: text === written ? 'valid' : 'formatted', gtin14 }
}

/** A number of its digits but for the last. */
export function withCheckDigit(first: string): string {
  for (let digit = 0; digit < 9; digit++) {
    if (hasRightCheckDigit(`${first}${digit}`)) return `${first}${digit}`
  }
  return `${first}9`
}
