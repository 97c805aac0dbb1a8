/**
 * The one way to write SQL: a tagged template whose values are always bound, never spliced.
 *
 * A query may contain another one, so a condition or an order can be chosen without concatenating
 * strings. So the text of a statement consists only of constants.
 */

/** A query, or a part of one, ready to send. */
export interface Sql {
  readonly text: string
  readonly values: readonly unknown[]
  /** Set by `prepared`: the name under which a connection caches the parsed statement. */
  readonly name?: string
  /** The constant parts around the values; `text` is these with $1, $2 … between them. */
  readonly parts: readonly string[]
}

/** Lists are for the people and scripts of one installation; longer ones are reports. */
export const LIST_ROWS_MAX = 10_000

/** sql`select … where id = ${id} and ${condition}`: values become $1, $2 …; queries are inlined. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  const parts = [strings[0] ?? '']
  const bound: unknown[] = []
  values.forEach((value, index) => {
    const after = strings[index + 1] ?? ''
    if (isSql(value)) {
      append(parts, value.parts)
      bound.push(...value.values)
      append(parts, [after])
    } else {
      bound.push(value)
      parts.push(after)
    }
  })
  return make(parts, bound)
}

/** Joins queries: joinSql([a, b], ' and '). The separator is a constant. */
export function joinSql(queries: readonly Sql[], separator: string): Sql {
  const parts = ['']
  const bound: unknown[] = []
  queries.forEach((query, index) => {
    if (index > 0) append(parts, [separator])
    append(parts, query.parts)
    bound.push(...query.values)
  })
  return make(parts, bound)
}

/** A quoted name of a table or column. */
export function identifier(name: string): Sql {
  return make([`"${name.replaceAll('"', '""')}"`], [])
}

/** Statements from a file of the repository: constant text without values. */
export function constantSql(text: string): Sql {
  return make([text], [])
}

/**
 * The same query, parsed and planned once per connection under this name. For hot paths: a name
 * must always belong to the same text.
 */
export function prepared(name: string, query: Sql): Sql {
  return { ...query, name }
}

function make(parts: readonly string[], values: readonly unknown[]): Sql {
  const text = parts.reduce((before, part, index) => `${before}$${index}${part}`)
  return { text, values, parts, [MARK]: true } as Sql
}

/**
 * Appends text parts; the first one joins the last existing part, because no value lies between
 * them.
 */
function append(parts: string[], more: readonly string[]): void {
  parts.push((parts.pop() ?? '') + (more[0] ?? ''), ...more.slice(1))
}

// A symbol, so that no JSON from a client can pass for a query.
const MARK = Symbol('sql')

function isSql(value: unknown): value is Sql {
  return typeof value === 'object' && value !== null && MARK in value
}
