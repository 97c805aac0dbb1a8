/** How long a text is, as the interface, its schemas and people count, and where one is cut. */
import { badRequest } from './errors.ts'

/** One beyond 16 bits, an emoji for one, is one character and two units of a JavaScript string. */
export function characterCount(text: string): number {
  return [...text].length
}

/** The beginning of a text, in units of JavaScript, that ends between two characters. */
export function cutText(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : text.slice(0, unitsMax).replace(/[\ud800-\udbff]$/, '')
}

/** The text without the space around it; throws a 400 when that is none, or too long. */
export function requireText(field: string, text: string, lengthMax: number): string {
  const kept = text.trim()
  if (kept !== '' && characterCount(kept) <= lengthMax) return kept
  throw badRequest([{ field, rule: `1 to ${lengthMax} characters` }])
}
