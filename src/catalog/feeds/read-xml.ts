/**
 * Reads XML feeds: RSS 2.0, Atom, and any other document that repeats one element for each product.
 *
 * The text is first cut into items at the tags of that element, and each item is parsed alone
 * (xml-item.ts). So a fault in one item, such as a CDATA section that is not closed, cannot reach
 * another item. An item whose text holds another item's tag is rejected, and the next one is read.
 */
import { ROW_CHARACTERS_MAX } from '../../platform/text/csv-reader.ts'
import type { FieldFinder } from './feed-columns.ts'
import type { FeedEntry, FeedParser, ReadFault } from './feed-entry.ts'
import type { XmlElements } from './find-xml-element.ts'
import { ItemNames, readXmlItem, withoutEntities } from './xml-item.ts'

const TEXT_SHOWN = 2_000
/** A closing tag holds a name and blanks; a longer one has no end. */
const TAG_CHARACTERS_MAX = 1_000
const SPACE = 0x20
const SLASH = 0x2f
const GREATER = 0x3e

const DOCTYPE = /^\s*(?:<\?xml[^<>]*>\s*)?<!DOCTYPE[^[\]<>]*(?:\[[^\]]{0,100000}\]\s*)?>/i

export class XmlParser implements FeedParser {
  isCut = false
  readonly #names: ItemNames
  readonly #root: string
  readonly #openTag: string
  readonly #closeTag: string
  /** So much of the end of the text may be the beginning of a tag. */
  readonly #tailLength: number
  #idName: string | null = null
  /** Text not yet read; `#line` is the line of its first character. */
  #text = ''
  #line = 1
  /** Inside an item that is longer than allowed: nothing counts until the next tag of an item. */
  #isSkipping = false
  #isStarted = false
  #isRootClosed = false
  #entries: FeedEntry[] = []

  constructor({ root, item }: XmlElements & { readonly item: string }, fieldOf: FieldFinder) {
    this.#root = root
    this.#openTag = `<${item}`
    this.#closeTag = `</${item}`
    this.#tailLength = Math.max(item.length, root.length) + 8
    this.#names = new ItemNames(fieldOf)
  }

  push(text: string, isLast: boolean): FeedEntry[] {
    this.#text += text
    if (!this.#isStarted) this.#begin()
    while (this.#readNext(isLast));
    const entries = this.#entries
    this.#entries = []
    return entries
  }

  /** What a DOCTYPE declares is passed over: it may hold text that looks like an item. */
  #begin(): void {
    this.#isStarted = true
    const doctype = DOCTYPE.exec(this.#text)?.[0]
    if (doctype !== undefined) this.#drop(doctype.length)
  }

  /** Reads what stands before the next item, or an item; false when more text is needed. */
  #readNext(isLast: boolean): boolean {
    const text = this.#text
    const start = this.#find(this.#openTag, 0)
    if (start === 0) return this.#readItem(isLast)
    const close = this.#find(this.#closeTag, 0)
    const end = Math.min(start ?? text.length, close ?? text.length)
    const comment = this.#isSkipping ? -1 : text.slice(0, end).indexOf('<!--')
    if (comment !== -1) return this.#readComment(comment, isLast)
    if (close === end) return this.#readStrayEnd(close, isLast)
    if (start !== null) return this.#pass(start)
    if (isLast) {
      this.#pass(text.length)
      this.isCut ||= !this.#isRootClosed
    } else this.#pass(text.length - this.#tailLength)
    return false
  }

  /** Moves over text between items; a prefix may be declared in it, and the feed's root closed. */
  #pass(end: number): boolean {
    if (end <= 0) return false
    const passed = this.#text.slice(0, end)
    this.#names.declareIn(passed)
    this.#isRootClosed ||= passed.includes(`</${this.#root}`)
    if (this.#text.startsWith(this.#openTag, end)) this.#isSkipping = false
    return this.#drop(end)
  }

  /** Where a tag of the item's element begins; null when the text has none as far as it goes. */
  #find(tag: string, from: number): number | null {
    for (let at = this.#text.indexOf(tag, from); at !== -1; at = this.#text.indexOf(tag, at + 1)) {
      const next = this.#text.charCodeAt(at + tag.length)
      if (Number.isNaN(next)) return null // What follows decides, once it is here.
      if (next === GREATER || next === SLASH || next <= SPACE) return at
    }
    return null
  }

  /** Where the closing tag at `at` ends: behind its `>`, or where another tag begins before it. */
  #endOfTag(at: number, isLast: boolean): number | null {
    const end = this.#text.indexOf('>', at)
    const another = this.#text.indexOf('<', at + 1)
    if (another !== -1 && (end === -1 || another < end)) return another
    if (end !== -1) return end + 1
    return isLast || this.#text.length - at > TAG_CHARACTERS_MAX ? this.#text.length : null
  }

  #readItem(isLast: boolean): boolean {
    const text = this.#text
    this.#isRootClosed = false
    const tagEnd = text.indexOf('>')
    if (tagEnd !== -1 && text[tagEnd - 1] === '/' && !text.slice(1, tagEnd).includes('<')) {
      return this.#take(tagEnd + 1)
    }
    const close = this.#find(this.#closeTag, 1)
    const next = this.#find(this.#openTag, 1)
    if (next !== null && (close === null || next < close)) {
      const item = this.#openTag.slice(1)
      const why = `the item contains the tag of another <${item}>: it is not closed`
      return this.#reject('row_malformed', why, next)
    }
    const end = close === null ? null : this.#endOfTag(close, false)
    if (end !== null) return this.#take(end)
    if (text.length > ROW_CHARACTERS_MAX) return this.#rejectLong()
    if (isLast) {
      this.isCut = true
      this.#reject('row_truncated', 'the feed ends inside this item', text.length)
    }
    return false
  }

  #take(end: number): boolean {
    const markup = this.#text.slice(0, end)
    if (markup.length > ROW_CHARACTERS_MAX) return this.#rejectLong()
    if (this.#root === this.#openTag.slice(1)) this.#isRootClosed = true
    const { fields, idName, fault } = readXmlItem(markup, this.#names)
    if (fault !== null) return this.#reject('row_malformed', fault, end)
    this.#idName = idName ?? this.#idName
    this.#entries.push({ kind: 'row', line: this.#line, fields })
    return this.#drop(end)
  }

  /** An item whose opening tag was lost: its closing tag is all that is left of it. */
  #readStrayEnd(close: number, isLast: boolean): boolean {
    const next = this.#endOfTag(close, isLast)
    if (next === null) return false
    const wasSkipping = this.#isSkipping
    this.#isSkipping = false
    if (wasSkipping) return this.#drop(next)
    return this.#reject('row_malformed', 'an item is closed that was not opened', next)
  }

  /**
   * A comment between items. One that holds another comment was not closed, and neither was one
   * that is longer than any item: then what follows is read as if it was not there.
   */
  #readComment(at: number, isLast: boolean): boolean {
    const end = this.#text.indexOf('-->', at + 4)
    const another = this.#text.indexOf('<!--', at + 4)
    const isOver = another !== -1 || this.#text.length - at > ROW_CHARACTERS_MAX || isLast
    if (end === -1 && !isOver) {
      this.#pass(at)
      return false
    }
    if (end !== -1 && (another === -1 || end < another)) return this.#pass(end + 3)
    const detail = 'a comment between items is not closed'
    return this.#reject('row_malformed', detail, at + 4)
  }

  #rejectLong(): boolean {
    const detail = `the item is longer than ${ROW_CHARACTERS_MAX} characters`
    this.#isSkipping = true
    return this.#reject('row_too_long', detail, this.#openTag.length)
  }

  #reject(reason: ReadFault, detail: string, end: number): boolean {
    const markup = this.#text.slice(0, end)
    const id = this.#idName === null ? null : idIn(markup, this.#idName)
    const text = markup.slice(0, TEXT_SHOWN)
    this.#entries.push({ kind: 'bad', line: this.#line, reason, detail, text, id })
    return this.#drop(end)
  }

  #drop(end: number): boolean {
    const text = this.#text
    for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) {
      this.#line++
    }
    this.#text = text.slice(end)
    return true
  }
}

/** The id in an item's markup; null unless exactly one element or attribute of that name has it. */
function idIn(markup: string, name: string): string | null {
  const isAttribute = name.startsWith('@')
  const bare = (isAttribute ? name.slice(1) : name).replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
  const begins = isAttribute
    ? new RegExp(`\\s${bare}\\s*=`, 'g')
    : new RegExp(`<${bare}[\\s>]`, 'g')
  const whole = isAttribute
    ? new RegExp(`^<[^<>]*?\\s${bare}\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`)
    : new RegExp(`<${bare}(?:\\s[^<>]*)?>(?:<!\\[CDATA\\[([^<\\]]*)\\]\\]>|([^<]*))</${bare}\\s*>`)
  const found = whole.exec(markup)
  const count = [...markup.matchAll(begins)].length
  return found !== null && count === 1 ? withoutEntities(found[1] ?? found[2] ?? '').trim() : null
}
