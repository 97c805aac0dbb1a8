/** Puts smart links into an article, as text or HTML, and lists what changed. Pure. */

export interface Replacement {
  /** The URL as the article has it, without HTML escapes. */
  readonly url: string
  readonly smartLink: string
}

export interface Change extends Replacement {
  /** The text around the replaced URL, for a diff. */
  readonly before: string
  readonly after: string
}

export interface Replaced {
  readonly text: string
  readonly changes: readonly Change[]
}

/** Enough words to recognize the place. */
const CONTEXT_CHARS = 48

/** In HTML, only the targets of links: a URL that readers see stays as it is. */
export function replaceLinks(
  text: string,
  replacements: readonly Replacement[],
  { isHtml = false } = {},
): Replaced {
  const linkOf = new Map(
    replacements.flatMap((one) => [
      [one.url, one],
      [escaped(one.url), one],
    ]),
  )
  // The longest first, because one URL may begin another.
  const urls = [...linkOf.keys()].toSorted((one, other) => other.length - one.length)
  if (urls.length === 0) return { text, changes: [] }
  const changes: Change[] = []
  const found = new RegExp(`${isHtml ? IN_HREF : ''}(?:${urls.map(quoted).join('|')})${END}`, 'g')
  const replaced = text.replace(found, (match, at: number) => {
    const one = linkOf.get(match) as Replacement
    changes.push({
      ...one,
      before: text.slice(Math.max(0, at - CONTEXT_CHARS), at),
      after: text.slice(at + match.length, at + match.length + CONTEXT_CHARS),
    })
    return match === one.url ? one.smartLink : escaped(one.smartLink)
  })
  return { text: replaced, changes }
}

/** Not in the middle of a longer URL. A full stop or comma may follow, but not one inside a URL. */
const END = '(?![\\w/%?=&#~+@:-]|[.,;!](?=[\\w/]))'

const IN_HREF = '(?<=\\bhref\\s*=\\s*["\']?\\s*)'

/** `RegExp.escape` is missing in Safari 17. */
const quoted = (url: string): string => url.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

const escaped = (url: string): string => url.replaceAll('&', '&amp;')
