/** Finds the prose in source code: comments, and texts of three words or more. */

export interface Prose {
  readonly line: number
  readonly text: string
}

/** Longer than any token before a regular expression. */
const LOOK_BACK = 12

export function findProse(source: string): Prose[] {
  const found: Prose[] = []
  const templates: number[] = []
  for (let at = 0; at < source.length; ) {
    const end = tokenEnd(source, at, templates)
    const text = source.slice(at, end)
    if (/^\/[/*]/.test(text) || (/^['"`}]/.test(text) && isProse(text))) {
      found.push({ line: source.slice(0, at).split('\n').length, text })
    }
    at = end
  }
  return found
}

/** The text between the tags of JSX. */
export function findJsxText(source: string): Prose[] {
  return [...source.matchAll(/>([^<>{}=;]+)[<{]/g)].map(({ 1: text = '', index }) => ({
    line: source.slice(0, index).split('\n').length,
    text,
  }))
}

/** Names in code and in SQL: comments and quoted texts are left out. */
export function findNames(source: string): string[] {
  const code = source
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*|--\s.*/g, '')
    .replace(/'[^'\n]*'|"[^"\n]*"/g, '')
  return code.match(/[a-z_$][\w$]*/gi) ?? []
}

/** The words of a name in any case: `maxAgeMs`, `max_age_ms`, `MAX_AGE_MS`, `max-age.ts`. */
export function partsOfName(name: string): string[] {
  const words = name.replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2 ')
  return words.toLowerCase().split(/[^a-z\d]+/)
}

/** A sentence has several words. SQL, HTML and code in a text are not prose. */
function isProse(text: string): boolean {
  const words = text.match(/[a-z]{2,}/gi) ?? []
  if (!/\s/.test(text.slice(1, -1).trim())) return false
  const isSql = /::|\b(select|insert|update|delete|from|where|create|group by)\b/.test(text)
  return text.length > 2 && words.length >= 3 && !isSql && !/<[^>]*>/.test(text)
}

/** The end of the comment, text, regular expression or character at `at`. */
function tokenEnd(source: string, at: number, templates: number[]): number {
  const char = source[at]
  if (source.startsWith('//', at)) return endOf(source, '\n', at)
  if (source.startsWith('/*', at)) return endOf(source, '*/', at + 2)
  if (char === "'" || char === '"') return quoteEnd(source, at)
  const inner = templates.at(-1)
  if (char === '`' || (char === '}' && inner === 0)) {
    if (char === '}') templates.pop()
    return templateEnd(source, at, templates)
  }
  if (inner !== undefined && char === '{') templates[templates.length - 1] = inner + 1
  if (inner !== undefined && char === '}') templates[templates.length - 1] = inner - 1
  if (char === '/' && startsRegExp(source, at)) return regExpEnd(source, at)
  return at + 1
}

function endOf(source: string, text: string, from: number): number {
  const at = source.indexOf(text, from)
  return at === -1 ? source.length : at + text.length
}

/** An apostrophe in JSX text has no partner on its line. */
function quoteEnd(source: string, at: number): number {
  for (let end = at + 1; end < source.length && source[end] !== '\n'; end++) {
    if (source[end] === '\\') end++
    else if (source[end] === source[at]) return end + 1
  }
  return at + 1
}

function templateEnd(source: string, at: number, templates: number[]): number {
  for (let end = at + 1; end < source.length; end++) {
    if (source[end] === '\\') end++
    else if (source[end] === '`') return end + 1
    else if (source.startsWith('${', end)) {
      templates.push(0)
      return end + 2
    }
  }
  return source.length
}

function startsRegExp(source: string, at: number): boolean {
  const before = source.slice(Math.max(0, at - LOOK_BACK), at).trimEnd()
  return before === '' || /[(,=:[!&|?{};+\-*%<>~^]$|\b(return|typeof|case|in|of)$/.test(before)
}

function regExpEnd(source: string, at: number): number {
  let isClass = false
  for (let end = at + 1; end < source.length && source[end] !== '\n'; end++) {
    if (source[end] === '\\') end++
    else if (source[end] === '[') isClass = true
    else if (source[end] === ']') isClass = false
    else if (source[end] === '/' && !isClass) return end + 1
  }
  return at + 1
}
