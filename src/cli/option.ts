/**
 * Options of the command line: how each kind of value is read.
 *
 * An unreadable value is a usage error (exit 2). A readable value that the service does not accept
 * is refused later by the rules of its subject (exit 1).
 */
import { InvalidArgumentError } from 'commander'
import {
  CATEGORY_FLOOR_RULE,
  type CategoryFloor,
  parseCategoryFloor,
} from '../accounts/category-floor.ts'
import { readResultNumber } from '../auction/seal.ts'
import { ID_RULE } from '../platform/http/pattern.ts'
import { isId } from '../platform/ids.ts'
import { type Micros, PPM, parseDollars } from '../platform/money/money.ts'
import { isPlainDate, parseTimestamp, TIMESTAMP_RULE } from '../platform/time/timestamp.ts'

/** One option: its flags and help in commander's syntax, and how its value is read. */
export interface OptionSpec {
  readonly flags: string
  readonly help: string
  readonly read?: ((value: string, previous: unknown) => unknown) | undefined
  readonly isRequired?: boolean
}

const INTEGER_MAX = 2_147_483_647 // Ids and counts are 32-bit columns.

/** US dollars as typed, `0.60`. */
export function readDollars(value: string): Micros {
  const amount = parseDollars(value.replace(/^\./, '0.'))
  if (amount === null) {
    const how = 'digits and a point, six decimals at most, up to nine billion'
    throw new InvalidArgumentError(`It must be US dollars, such as 0.60: ${how}.`)
  }
  return amount
}

/** A fraction, `0.75`, as parts per million; null if empty. Its range is checked by the rules. */
export function readFraction(value: string): number | null {
  const number = readNumber(value)
  if (number === null) return null
  const ppm = Math.round(number * PPM)
  // A finer value would be stored as another number than the one typed.
  const isExact = Math.abs(number * PPM - ppm) < 0.01
  if (!isExact || Math.abs(ppm) > INTEGER_MAX) {
    throw new InvalidArgumentError('It must be a fraction of at most six decimals, such as 0.75.')
  }
  return ppm
}

export function readNumber(value: string): number | null {
  if (value === '') return null
  if (!/^-?(\d+(\.\d+)?|\.\d+)$/.test(value)) throw new InvalidArgumentError('It must be a number.')
  return Number(value)
}

export function readInteger(value: string): number {
  const number = Number(value)
  if (!/^\d{1,10}$/.test(value) || number > INTEGER_MAX) {
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${INTEGER_MAX}.`)
  }
  return number
}

/** A 64-bit id, such as a smart link's. */
export function readLongId(value: string): string {
  if (!isId(value)) throw new InvalidArgumentError(`It ${ID_RULE}.`)
  return value
}

/** A click's id, or the number of an auction result. */
export function readHexId(value: string): string {
  if (!/^[0-9a-f]{32}$/i.test(value)) {
    throw new InvalidArgumentError('It must be 32 hexadecimal digits.')
  }
  return value.toLowerCase()
}

/** The number of an auction result: given directly, in a sealed id, or by the id of its click. */
export function readAuctionResult(value: string): Buffer {
  const number = readResultNumber(value)
  if (number !== null) return number
  throw new InvalidArgumentError('It must be an auction_result.id, or 32 hexadecimal digits.')
}

/** A value that an empty one removes. */
export function readOptional<T>(read: (value: string) => T): (value: string) => T | null {
  return (value) => (value === '' ? null : read(value))
}

/** `222=0.10` or `222:GB=0.08`. */
export function readCategoryFloor(value: string): CategoryFloor {
  const floor = parseCategoryFloor(value)
  if (floor === null) throw new InvalidArgumentError(`It ${CATEGORY_FLOOR_RULE}.`)
  return floor
}

/** ISO 8601 with an offset, or a plain date; null if empty. */
export function readInstant(value: string): Date | null {
  if (value === '') return null
  const instant = parseTimestamp(value)
  if (instant === null) throw new InvalidArgumentError(`It ${TIMESTAMP_RULE}.`)
  return instant
}

/** A plain date, `2026-03-02`. */
export function readDay(value: string): string {
  if (!isPlainDate(value)) {
    throw new InvalidArgumentError('It must be a date, such as 2026-03-02.')
  }
  return value
}

/** Text that an empty value removes. */
export function readText(value: string): string | null {
  return value === '' ? null : value
}

/** One of a few words, in any case. */
export function readWord(...words: readonly string[]): (value: string) => string {
  return (value) => {
    const word = words.find((item) => item === value.toLowerCase())
    if (word === undefined) throw new InvalidArgumentError(`It must be one of ${words.join(', ')}.`)
    return word
  }
}

/** A list, by repeating the option or with commas; one empty value clears it. */
export function readList<T>(read: (value: string) => T): (value: string, previous: unknown) => T[] {
  return (value, previous) => {
    const items = value.split(',').flatMap((item) => item.trim() || [])
    return [...((previous as T[] | undefined) ?? []), ...items.map(read)]
  }
}

/** A list whose values may contain commas: only by repeating the option. */
export function readRepeated(value: string, previous: unknown): string[] {
  const before = (previous as string[] | undefined) ?? []
  return value === '' ? before : [...before, value]
}
