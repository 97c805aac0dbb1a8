/**
 * Formats an error as one line, without its stack.
 *
 * A host name may lead to several addresses. If none answers, Node throws an error with an empty
 * message that contains one error per address; `Promise.any` does the same.
 */
export function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError) return error.errors.map(formatError).join('; ')
  return error.message || error.name
}
