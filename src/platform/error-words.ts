/**
 * What an error says, for who reads no stack.
 *
 * A host's name may lead to several addresses, as `localhost` mostly does. When none of them
 * answers, Node gives an error without a word of its own that holds what each of them said; so does
 * `Promise.any`.
 */
export function errorWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError) return error.errors.map(errorWords).join('; ')
  return error.message || error.name
}
