/** Puts every named schema of an API description back where it is used. */

/** The document without `$ref`; throws for a name that it does not have. */
export function inlineRefs<Document>(document: Document): Document {
  const { schemas = {} } =
    (document as { components?: { schemas?: Record<string, unknown> } }).components ?? {}
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (typeof value !== 'object' || value === null) return value
    const name = '$ref' in value ? String(value.$ref).split('/').at(-1) : undefined
    if (name === undefined) {
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inline(part)]))
    }
    if (!Object.hasOwn(schemas, name)) throw new Error(`the description has no schema ${name}`)
    return inline(schemas[name])
  }
  return inline(document) as Document
}
