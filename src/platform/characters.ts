/** How long a text is, as the interface, its schemas and people count, and where one is cut. */
import { badRequest, type Fault } from './errors.ts'

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
  const faults = textFaults(field, text, lengthMax)
  if (faults.length > 0) throw badRequest(faults)
  return text.trim()
}

/** What `requireText` would throw, to be told beside other faults. */
export function textFaults(field: string, text: string, lengthMax: number): Fault[] {
  const kept = text.trim()
  if (kept !== '' && characterCount(kept) <= lengthMax) return []
  return [{ field, rule: `1 to ${lengthMax} characters` }]
}
