/** `duplicateVisitor` → `duplicate_visitor`: names as in columns, reports and metrics. */
export function snakeCase<const Name extends string>(name: Name): SnakeCase<Name> {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<Name>
}

/** The same as a type, so that a table by words must have an entry for each name. */
export type SnakeCase<Name extends string> = string extends Name
  ? string
  : Name extends `${infer First}${infer Rest}`
    ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
    : ''
