/** The operator's options of a feed beside its URL; stored with a feed that has one. */
import { badRequest, type Fault } from '../../platform/errors/api-errors.ts'
import { isCurrency } from '../../platform/money/read-currency.ts'
import { type FeedMap, type FieldName, fieldOfMapName } from './feed-columns.ts'
import type { FeedFormat } from './feed-format.ts'

export interface FeedOptions {
  readonly format: FeedFormat
  /** Our fields by the names of the columns that have them. */
  readonly map: FeedMap | null
  /** ISO 4217: the currency of prices without one. */
  readonly currency: string | null
  /** The repeated element of an XML feed. */
  readonly element: string | null
}

const NAMES_MAX = 20
const NAME_LENGTH_MAX = 200

/**
 * Reads a map: a JSON object of our fields, each with a column's name or a list of names. Fields go
 * by the names that feeds use for them, such as `image_link`. Throws a 400 that names every fault.
 */
export function readFeedMap(text: string): FeedMap {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw badRequest([{ field: 'map', rule: 'is not valid JSON' }])
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest([{ field: 'map', rule: 'must be an object of fields and column names' }])
  }
  const map: Partial<Record<FieldName, readonly string[]>> = {}
  const faults: Fault[] = []
  for (const [name, columns] of Object.entries(value)) {
    const field = fieldOfMapName(name)
    const names = [columns].flat()
    if (field === null) {
      const rule =
        'is no field; known are id, title, link, price, image_link and the other columns of feeds'
      faults.push({ field: `map.${name}`, rule })
    } else if (!isNames(names)) {
      faults.push({ field: `map.${name}`, rule: 'must be a column’s name, or a list of names' })
    } else map[field] = [...(map[field] ?? []), ...names]
  }
  if (faults.length > 0) throw badRequest(faults)
  return map
}

function isNames(names: readonly unknown[]): names is readonly string[] {
  const isName = (name: unknown) =>
    typeof name === 'string' && name.trim() !== '' && name.length <= NAME_LENGTH_MAX
  return names.length > 0 && names.length <= NAMES_MAX && names.every(isName)
}

/** A currency typed by an operator; throws a 400 unless ISO 4217 has it in use. */
export function requireCurrency(field: string, written: string): string {
  const code = written.trim().toUpperCase()
  if (isCurrency(code)) return code
  throw badRequest([
    { field, rule: `must be a currency of ISO 4217, such as EUR; is "${written}"` },
  ])
}

const ELEMENT = /^[^\s<>/="'&!?]{1,100}$/u

/** The name of an element; throws a 400 for an invalid one. */
export function requireElement(written: string): string {
  const name = written.trim().replace(/^<(.*)>$/, '$1')
  if (ELEMENT.test(name)) return name
  throw badRequest([{ field: 'element', rule: 'must be the name of an XML element' }])
}
