/** Reads feeds of one JSON object a line. */
import { ROW_CHARACTERS_MAX } from '../../platform/text/csv-reader.ts'
import type { FeedFields, FieldFinder } from './feed-columns.ts'
import { type FeedEntry, type FeedParser, FieldGatherer } from './feed-entry.ts'

export function jsonlParser(fieldOf: FieldFinder): FeedParser {
  let rest = ''
  let line = 0
  let isCut = false
  let idName: string | null = null // of the last line that could be read
  // Inside a line that is too long: nothing counts until the next one.
  let isSkipping = false

  const readLine = (text: string, hasEnd: boolean): FeedEntry | null => {
    line++
    if (isSkipping) {
      isSkipping = !hasEnd
      return null
    }
    if (text.trim() === '') return null
    const object = readObject(text, fieldOf)
    if (object !== null) {
      idName = object.idName ?? idName
      return { kind: 'row', line, fields: object.fields }
    }
    if (!hasEnd) isCut = true
    const reason = hasEnd ? 'row_malformed' : 'row_truncated'
    const id = idName === null ? null : idIn(text, idName)
    return { kind: 'bad', line, reason, detail: 'the line is not a JSON object', text, id }
  }

  return {
    get isCut() {
      return isCut
    },
    push(text, isLast) {
      const entries: FeedEntry[] = []
      const all = rest + text
      let at = 0
      for (let end = all.indexOf('\n'); end !== -1; end = all.indexOf('\n', at)) {
        const entry = readLine(all.slice(at, end), true)
        if (entry !== null) entries.push(entry)
        at = end + 1
      }
      rest = all.slice(at)
      if (isLast) {
        const entry = rest === '' ? null : readLine(rest, false)
        if (entry !== null) entries.push(entry)
        rest = ''
      } else if (rest.length > ROW_CHARACTERS_MAX) {
        if (!isSkipping) entries.push(tooLong(line + 1, rest))
        isSkipping = true
        rest = ''
      }
      return entries
    },
  }
}

function tooLong(line: number, start: string): FeedEntry {
  const detail = `the line is longer than ${ROW_CHARACTERS_MAX} characters`
  return { kind: 'bad', line, reason: 'row_too_long', detail, text: start.slice(0, 2000), id: null }
}

const STRING_OR_NUMBER = String.raw`("(?:[^"\\]|\\.)*"|-?\d+)\s*[,}]`

/** The value of a name that the line has once: with two, one byte may have joined two lines. */
function idIn(text: string, name: string): string | null {
  const key = JSON.stringify(name).replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
  const [found, another] = text.matchAll(new RegExp(`${key}\\s*:\\s*${STRING_OR_NUMBER}`, 'g'))
  if (found?.[1] === undefined || another !== undefined) return null
  try {
    return found[1].startsWith('"') ? String(JSON.parse(found[1])) : found[1]
  } catch {
    return null
  }
}

const LONG_NUMBER = /[[:,]\s*-?\d{16}/

/** An id with more digits than a number holds is read as text, or two would be one. */
function exactly(_name: string, value: unknown, written?: { source?: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? written?.source : value
}

function parsed(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exactly) : JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Words for an empty value that Python and JavaScript write into JSON, which does not allow them.
 */
const STRING_OR_WORD = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity|undefined|None)\b/g
const nullOfWord = (found: string): string => (found.startsWith('"') ? found : 'null')

interface ReadObject {
  readonly fields: FeedFields
  /** The name of its id field. */
  readonly idName: string | null
}

function readObject(text: string, fieldOf: FieldFinder): ReadObject | null {
  const value = parsed(text) ?? parsed(text.replace(STRING_OR_WORD, nullOfWord))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const gatherer = new FieldGatherer()
  let idName: string | null = null
  for (const [name, content] of Object.entries(value)) {
    const found = fieldOf(name)
    if (found === null) continue
    if (gatherer.set(found, textOf(content))) idName = name
  }
  return { fields: gatherer.finish(), idName }
}

/** No feed is nested deeper; some thousands of lists in each other would be more than the stack. */
const DEPTH_MAX = 32

/** A value as a cell: the first of a list, `{value, currency}` as one price. */
function textOf(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) return ''
  const inner = (part: unknown) => textOf(part, depth + 1)
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? '' : inner(value[0])
  if (typeof value !== 'object' || value === null) return ''
  const { value: plain, amount, currency, currencyCode } = value as Record<string, unknown>
  const price = inner(plain ?? amount)
  return price === '' ? '' : `${price} ${inner(currency ?? currencyCode)}`.trim()
}
