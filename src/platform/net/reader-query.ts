/**
 * Queries of addresses that readers follow, as their authors meant them.
 *
 * A template that escapes an address twice writes `&amp;name=` or `&#038;name=`. The parameter
 * counts as `name` where no `name` is there (docs/spec/links-and-tags.md#escaped-ampersands).
 */

/** The rest of an escaped `&` at the start of a name, however often it was escaped. */
const ESCAPED_AMPERSAND = /^(?:amp;|#0*38;|#x0*26;)+(?=.)/i

/** Parses a query, with or without its question mark. */
export function readReaderQuery(text: string): URLSearchParams {
  const query = new URLSearchParams(text)
  // Nearly all queries hold no semicolon: redirects are on the hot path.
  if (!/;|%3b/i.test(text)) return query
  for (const [written, value] of [...query]) {
    const name = written.replace(ESCAPED_AMPERSAND, '')
    if (name !== written && !query.has(name)) query.append(name, value)
  }
  return query
}
