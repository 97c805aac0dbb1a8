/**
 * Reads RSS 2.0 and Atom feeds with Google's namespace (`g:`).
 *
 * The parser knows the five entities of XML and no others: what a DOCTYPE declares is never
 * expanded, and `&eacute;` stays text (titles are decoded later). A fault inside an item costs
 * that item. Only the item's own children are read: `g:shipping` has a price of its own.
 */

import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { ROW_CHARACTERS_MAX } from '../platform/csv-reader.ts'
import { type FoundField, fieldFinder } from './feed-columns.ts'
import { type FeedEntry, type FeedParser, FieldGatherer } from './feed-entry.ts'
import { FeedError } from './feed-error.ts'

const GOOGLE_NAMESPACE = 'http://base.google.com/ns/1.0'

/** No feed is nested deeper; a bound, because every open element is kept in memory. */
const DEPTH_MAX = 32

// A `&` that is no entity is the commonest fault in feeds and hurts nothing: it stays text. What
// follows a close tag that closed too much is still read.
const HARMLESS = /entity|only one root|outside of root/
const CLOSED_BY_ANOTHER_TAG = /unexpected close tag/

/** To the parser all of a table is text before the first element. */
const NO_ELEMENT = 'no product feed: it has no XML element'

interface Item {
  readonly line: number
  readonly depth: number
  readonly gatherer: FieldGatherer
  fault: string | null
  characters: number
}

/** Throws FeedError for a document that is no feed (its first element), or nested without end. */
export class XmlParser implements FeedParser {
  isCut = false
  readonly #parser = new SaxesParser({ xmlns: false, position: true })
  readonly #fieldOf = fieldFinder()
  #entries: FeedEntry[] = []
  #depth = 0
  #hasRoot = false
  #prefix = 'g:'
  #item: Item | null = null
  /** An item whose end tag was just read: an error about that very tag still comes after it. */
  #ended: Item | null = null
  #field: FoundField | null = null
  #text = ''
  #charactersSinceEvent = 0

  constructor() {
    this.#parser.on('opentag', (tag) => this.#open(tag))
    this.#parser.on('closetag', () => this.#close())
    this.#parser.on('text', (text) => this.#read(text))
    this.#parser.on('cdata', (text) => this.#read(text))
    this.#parser.on('error', (error) => this.#fault(error.message))
  }

  push(text: string, isLast: boolean): FeedEntry[] {
    // A feed that opens a tag, comment or text and never ends it would fill the memory.
    this.#charactersSinceEvent += text.length
    this.#parser.write(text)
    if (this.#charactersSinceEvent > 2 * ROW_CHARACTERS_MAX) {
      const tooLong = `an element of the feed is longer than ${ROW_CHARACTERS_MAX} characters`
      throw new FeedError(this.#hasRoot ? tooLong : NO_ELEMENT)
    }
    if (isLast) this.#end()
    this.#flush()
    const entries = this.#entries
    this.#entries = []
    return entries
  }

  #open(tag: SaxesTagPlain): void {
    this.#flush()
    this.#charactersSinceEvent = 0
    this.#depth++
    if (this.#depth > DEPTH_MAX) throw new FeedError(`the feed is nested deeper than ${DEPTH_MAX}`)
    if (this.#depth === 1) this.#openRoot(tag)
    this.#learnPrefix(tag)
    const item = this.#item
    if (item === null) {
      if (tag.name === 'item' || tag.name === 'entry') this.#item = this.#newItem()
      return
    }
    if (this.#depth !== item.depth + 1) return
    const isGoogle = tag.name.startsWith(this.#prefix)
    const name = isGoogle ? tag.name.slice(this.#prefix.length) : tag.name
    const found = name.includes(':') ? null : this.#fieldOf(name)
    if (found === null) return
    // `g:id` is the merchant's, plain `id` may be Atom's; both by the order of their names.
    this.#field = { field: found.field, rank: found.rank * 2 + (isGoogle ? 0 : 1) }
    this.#text = ''
    if (name === 'link') {
      const { href, rel = 'alternate' } = tag.attributes
      if (href !== undefined && rel === 'alternate') this.#text = href
    }
  }

  #openRoot(tag: SaxesTagPlain): void {
    // A close tag that closed too much: whether the end of the feed is its end is not known.
    if (this.#hasRoot) this.isCut = true
    else if (!/^(rss|feed|rdf:RDF|channel|items)$/.test(tag.name)) {
      throw new FeedError(
        `no product feed: its first element is <${tag.name.slice(0, 40)}>, not <rss>`,
      )
    }
    this.#hasRoot = true
  }

  /** Any element may declare a namespace; tools that write items apart do so in each. */
  #learnPrefix({ attributes }: SaxesTagPlain): void {
    for (const name in attributes) {
      if (attributes[name] === GOOGLE_NAMESPACE && name.startsWith('xmlns:')) {
        this.#prefix = `${name.slice('xmlns:'.length)}:`
      }
    }
  }

  #newItem(): Item {
    return {
      line: this.#parser.line,
      depth: this.#depth,
      gatherer: new FieldGatherer(),
      fault: null,
      characters: 0,
    }
  }

  #close(): void {
    this.#charactersSinceEvent = 0
    const item = this.#item
    if (item !== null && this.#depth === item.depth + 1 && this.#field !== null) {
      item.gatherer.set(this.#field.field, this.#field.rank, this.#text.trim())
      this.#field = null
    }
    if (item !== null && this.#depth === item.depth) {
      this.#ended = item
      this.#item = null
    }
    this.#depth--
  }

  #read(text: string): void {
    this.#charactersSinceEvent = 0
    if (this.#item === null) return
    this.#item.characters += text.length
    if (this.#field !== null && this.#item.characters <= ROW_CHARACTERS_MAX) this.#text += text
  }

  #fault(message: string): void {
    if (HARMLESS.test(message)) return
    const what = message.replace(/^\d+:\d+: /, '')
    if (this.#item !== null) this.#item.fault ??= what
    else if (this.#ended !== null && CLOSED_BY_ANOTHER_TAG.test(what)) this.#ended.fault ??= what
  }

  /** Hands out the item that ended, now that no error about its end tag can follow. */
  #flush(): void {
    const item = this.#ended
    if (item === null) return
    this.#ended = null
    const { line, fault, characters } = item
    if (characters > ROW_CHARACTERS_MAX) {
      const detail = `the item is longer than ${ROW_CHARACTERS_MAX} characters`
      this.#entries.push({ kind: 'bad', line, reason: 'row_too_long', detail, text: '', id: null })
    } else if (fault !== null) {
      const text = JSON.stringify(item.gatherer.finish())
      this.#entries.push({
        kind: 'bad',
        line,
        reason: 'row_malformed',
        detail: fault,
        text,
        id: null,
      })
    } else {
      this.#entries.push({ kind: 'row', line, fields: item.gatherer.finish() })
    }
  }

  #end(): void {
    if (!this.#hasRoot) throw new FeedError(NO_ELEMENT)
    const item = this.#item
    if (this.#depth > 0) this.isCut = true
    if (item !== null) {
      const detail = 'the feed ends inside this item'
      const text = JSON.stringify(item.gatherer.finish())
      this.#entries.push({
        kind: 'bad',
        line: item.line,
        reason: 'row_truncated',
        detail,
        text,
        id: null,
      })
    }
    // Closing the parser here would only report the same as errors.
  }
}
