/** How long a text is, as the interface, its schemas and people count. */

/** One beyond 16 bits, an emoji for one, is one character and two units of a JavaScript string. */
export function characterCount(text: string): number {
  return [...text].length
}
