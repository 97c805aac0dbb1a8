/** What a schema knows of a value; without the schema library, so that a thread loads at once. */

export interface PartSchema {
  readonly type?: string
  readonly anyOf?: readonly PartSchema[]
  readonly maxItems?: number
  readonly items?: PartSchema
  readonly properties?: Readonly<Record<string, PartSchema>>
}

/**
 * A value without the fields that its schema does not name, which are ignored (decisions, Paths):
 * also where a route hands a body on, and a further field would pass for an argument of its own.
 *
 * Each list is cut to one entry more than it may have: what was wrong stays wrong, and a body of a
 * million wrong entries costs no more to refuse than the longest one allowed. (The library needs
 * half a second to list what is wrong with 1 MiB of nulls, or to clean it; readers would wait.)
 */
export function knownFields(schema: PartSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const type = Array.isArray(value) ? 'array' : 'object'
  const branches = schema.anyOf?.filter((one) => one.type === type) ?? [schema]
  const branch = branches.length > 1 ? anyOfThem(branches) : branches[0]
  // Text or a number was wanted: an empty value is as wrong, and no larger.
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

/** Of several schemas of one type: what any of them knows. */
function anyOfThem(branches: readonly PartSchema[]): PartSchema {
  return Object.assign({}, ...branches, {
    properties: Object.assign({}, ...branches.map(({ properties }) => properties)),
  })
}
