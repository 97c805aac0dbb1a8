/**
 * What an error says, for who reads no stack.
 *
 * A host's name may lead to several addresses, as `localhost` mostly does. When none of them
 * answers, Node gives an error without a word of its own that holds what each of them said.
 */
export function errorWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isWordless = error instanceof AggregateError && error.message === ''
  return isWordless ? error.errors.map(errorWords).join('; ') : error.message || error.name
}
