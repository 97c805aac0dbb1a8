/** Reads a schema's known fields without the schema library, so that a thread starts quickly. */

export interface PartSchema {
  readonly type?: string
  readonly anyOf?: readonly PartSchema[]
  readonly maxItems?: number
  readonly items?: PartSchema
  readonly properties?: Readonly<Record<string, PartSchema>>
}

/**
 * A value without the fields that its schema does not name. Unknown fields are ignored, and a route
 * that passes its body on must not pass them as arguments.
 *
 * Each list is cut to one entry more than its limit, so a wrong body stays wrong, and 1 MiB of
 * wrong entries costs no more to refuse than the longest valid body. (The schema library needs half
 * a second to list the faults of 1 MiB of nulls.)
 */
export function knownFields(schema: PartSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const type = Array.isArray(value) ? 'array' : 'object'
  const branches = schema.anyOf?.filter((one) => one.type === type) ?? [schema]
  const branch = branches.length > 1 ? anyOfThem(branches) : branches[0]
  // The schema wants text or a number; an empty value is just as wrong and no larger.
  if (branch === undefined || (branch.type !== undefined && branch.type !== type)) {
    return type === 'array' ? [] : {}
  }
  const { maxItems, items, properties } = branch
  if (Array.isArray(value)) {
    const kept = maxItems === undefined ? value : value.slice(0, maxItems + 1)
    return items === undefined ? kept : kept.map((item) => knownFields(items, item))
  }
  if (properties === undefined) return value
  const known = Object.entries(properties)
    .filter(([name]) => Object.hasOwn(value, name))
    .map(([name, child]) => [name, knownFields(child, (value as Record<string, unknown>)[name])])
  return Object.fromEntries(known)
}

/** More names of unknown fields would not help anybody; nor would all of a long one. */
const UNKNOWN_FIELDS_MAX = 100
const FIELD_LENGTH_MAX = 200

/**
 * The fields of a value that its schema does not name, as faults name fields: `orders[0].order.x`.
 * The first 100, each cut to 200 characters.
 */
export function unknownFields(schema: PartSchema, value: unknown): string[] {
  const found: string[] = []
  const look = (part: PartSchema, value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null || found.length >= UNKNOWN_FIELDS_MAX) return
    const type = Array.isArray(value) ? 'array' : 'object'
    const { maxItems, items, properties } = part.anyOf?.find((one) => one.type === type) ?? part
    if (Array.isArray(value)) {
      for (const [index, item] of value.slice(0, maxItems).entries()) {
        if (items !== undefined) look(items, item, `${path}[${index}]`)
      }
      return
    }
    if (properties === undefined) return
    for (const [name, child] of Object.entries(value)) {
      const field = path === '' ? name : `${path}.${name}`
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (known !== undefined) look(known, child, field)
      else if (found.length < UNKNOWN_FIELDS_MAX) found.push(field.slice(0, FIELD_LENGTH_MAX))
    }
  }
  look(schema, value, '')
  return found
}

/** For several schemas of one type: the fields that any of them knows. */
function anyOfThem(branches: readonly PartSchema[]): PartSchema {
  return Object.assign({}, ...branches, {
    properties: Object.assign({}, ...branches.map(({ properties }) => properties)),
  })
}
