/** Counts and cuts text by characters, as the interface, its schemas and people do. */
import { badRequest, type Fault } from '../errors/api-errors.ts'

/** Counts an emoji as one character, though it is two UTF-16 units in JavaScript. */
export function characterCount(text: string): number {
  return [...text].length
}

/** The beginning of a text, at most `unitsMax` UTF-16 units, cut between two characters. */
export function cutText(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : text.slice(0, unitsMax).replace(/[\ud800-\udbff]$/, '')
}

/** The text without surrounding white space. Throws a 400 if nothing is left or it is too long. */
export function requireText(field: string, text: string, lengthMax: number): string {
  const faults = textFaults(field, text, lengthMax)
  if (faults.length > 0) throw badRequest(faults)
  return text.trim()
}

/** The faults that `requireText` would throw, to report them beside others. */
export function textFaults(field: string, text: string, lengthMax: number): Fault[] {
  const kept = text.trim()
  if (kept !== '' && characterCount(kept) <= lengthMax) return []
  return [{ field, rule: `1 to ${lengthMax} characters` }]
}
