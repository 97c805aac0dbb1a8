/** The web addresses in a text or a piece of HTML, in their order, each once. */
import { Parser } from 'htmlparser2'
import { parseWebUrl } from '../platform/net/url.ts'

const WRITTEN = /https?:\/\/[^\s<>"'`\\^{|}]+/gi
/** Ends a sentence, and no address that somebody writes into one. */
const TRAILING = /[.,;:!?…]+$/

export function urlsInText(text: string): string[] {
  return each([...text.matchAll(WRITTEN)].map(([written]) => trimmed(written)))
}

/** The targets of links. Relative ones lead to the publisher's own pages. */
export function urlsInHtml(html: string): string[] {
  const found: string[] = []
  const parser = new Parser({
    onopentag: (name, { href }) => {
      if (name === 'a' && href !== undefined) found.push(href.trim())
    },
  })
  parser.write(html)
  parser.end()
  return each(found)
}

function each(urls: readonly string[]): string[] {
  return [...new Set(urls)].filter((url) => parseWebUrl(url) !== null)
}

/** Without the full stop after it, and without a bracket that was opened before it. */
function trimmed(written: string): string {
  const url = written.replace(TRAILING, '')
  const count = (letter: string) => url.split(letter).length - 1
  return url.endsWith(')') && count(')') > count('(') ? trimmed(url.slice(0, -1)) : url
}
