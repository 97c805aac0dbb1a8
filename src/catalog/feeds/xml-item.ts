/**
 * Reads the markup of one item of an XML feed, from its opening tag to its closing tag.
 *
 * Strict where a lost byte could give a field the text of another one: tags must match, and a CDATA
 * section or comment must end as XML requires. An item that breaks a rule is rejected as a whole.
 * Lenient with `&`: it is text unless it starts an entity of XML. Declarations of a DOCTYPE are
 * never expanded, and `&eacute;` stays text (titles are decoded later).
 */
import type { FeedFields, FieldFinder, FoundField } from './feed-columns.ts'
import { FieldGatherer } from './feed-entry.ts'

export interface XmlItem {
  readonly fields: FeedFields
  /** The element or `@attribute` that gives the id; null when the item has none. */
  readonly idName: string | null
  /** Why the markup could not be read; null when it could. */
  readonly fault: string | null
}

/** The meaning of the elements in a feed's items; remembers every name. */
export class ItemNames {
  readonly fieldOf: FieldFinder
  /** True for the prefixes declared as Google's, false for other ones; with their colons. */
  readonly #isGoogle = new Map<string, boolean>()
  #itemPrefix = ''
  #known = new Map<string, FoundField | null>()

  constructor(fieldOf: FieldFinder) {
    this.fieldOf = fieldOf
  }

  declare(attributes: Attributes): void {
    for (const [name, value] of attributes ?? []) {
      if (!name.startsWith('xmlns:')) continue
      const prefix = `${name.slice('xmlns:'.length)}:`
      const isGoogle = GOOGLE_NAMESPACE.test(value)
      if (this.#isGoogle.get(prefix) === isGoogle || this.#isGoogle.size >= NAMES_MAX) continue
      this.#isGoogle.set(prefix, isGoogle)
      this.#known.clear()
    }
  }

  /** Learns the prefix from markup outside items. */
  declareIn(markup: string): void {
    if (!markup.includes('xmlns:')) return
    const found = markup.matchAll(
      /(xmlns:[^\s=<>"'/]{1,100})\s*=\s*["']([^"'<>]{1,200})["'](?=\s|\/?>)/g,
    )
    this.declare([...found].map(([, name = '', value = '']) => [name, value]))
  }

  set item(name: string) {
    const prefix = name.slice(0, name.indexOf(':') + 1)
    if (prefix === this.#itemPrefix) return
    this.#itemPrefix = prefix
    this.#known.clear()
  }

  find(name: string): FoundField | null {
    let found = this.#known.get(name)
    if (found !== undefined) return found
    found = this.#look(name)
    if (this.#known.size < NAMES_MAX) this.#known.set(name, found)
    return found
  }

  /**
   * `g:id` is the merchant's, plain `id` may be Atom's; both by the order of their names. A prefix
   * that nobody declared counts as well, one that is declared for another namespace does not.
   */
  #look(name: string): FoundField | null {
    const prefix = name.slice(0, name.indexOf(':') + 1)
    const isGoogle = this.#isGoogle.get(prefix) ?? (prefix === 'g:' ? true : undefined)
    const isOwn = prefix === '' || prefix === this.#itemPrefix
    if (isGoogle === false && !isOwn) return null
    const tier = isGoogle === true ? 0 : isOwn ? 1 : 2
    const whole = this.fieldOf(name)
    // A map may name the element with its prefix.
    const isMapped = whole !== null && whole.rank < 0
    const found = isMapped ? whole : this.fieldOf(name.slice(prefix.length))
    return found && ranked(found, tier)
  }
}

const TIERS = 4

function ranked({ also, ...found }: FoundField, tier: number): FoundField {
  const other = also === undefined ? {} : { also: ranked(also, tier) }
  return { ...found, rank: found.rank * TIERS + tier, ...other }
}
const NAMES_MAX = 1_000

/** Google's, also with a wrong letter in it, but not the one of its custom attributes (`cns`). */
const GOOGLE_NAMESPACE = /google(?!.*\/cns\/)|\/ns\/1\.0/

/** No feed is nested deeper. */
const DEPTH_MAX = 32

export function readXmlItem(markup: string, names: ItemNames): XmlItem {
  return new ItemReader(markup, names).read()
}

const SLASH = 0x2f
const EXCLAMATION = 0x21
const QUESTION = 0x3f
const GREATER = 0x3e
const COLON = 0x3a
const HYPHEN = 0x2d
const UNDERSCORE = 0x5f
const LETTER_A = 0x61

class ItemReader {
  readonly #markup: string
  readonly #names: ItemNames
  readonly #gatherer = new FieldGatherer()
  readonly #open: string[] = []
  #idName: string | null = null
  #fault: string | null = null
  #field: FoundField | null = null
  #fieldName = ''
  #text = ''
  #at = 0

  constructor(markup: string, names: ItemNames) {
    this.#markup = markup
    this.#names = names
  }

  read(): XmlItem {
    const { length } = this.#markup
    while (this.#at < length && this.#fault === null) this.#readNext()
    if (this.#open.length > 0) this.#fault ??= `<${this.#open.at(-1)}> is not closed`
    return { fields: this.#gatherer.finish(), idName: this.#idName, fault: this.#fault }
  }

  #readNext(): void {
    const tagAt = this.#markup.indexOf('<', this.#at)
    const end = tagAt === -1 ? this.#markup.length : tagAt
    if (end > this.#at) this.#readText(this.#markup.slice(this.#at, end))
    if (tagAt === -1) {
      this.#at = end
      return
    }
    const kind = this.#markup.charCodeAt(tagAt + 1)
    if (kind === SLASH) this.#readCloseTag(tagAt)
    else if (kind === EXCLAMATION) this.#readSection(tagAt)
    else if (kind === QUESTION) this.#skip(tagAt, '?>', '<', 'a processing instruction')
    else this.#readOpenTag(tagAt)
  }

  #readText(text: string): void {
    if (text.includes(']]>')) this.#fault = '"]]>" ends no CDATA section'
    else if (this.#field !== null) this.#text += withoutEntities(text)
  }

  #readSection(tagAt: number): void {
    const markup = this.#markup
    if (markup.startsWith('<![CDATA[', tagAt)) {
      const end = this.#skip(tagAt + 8, ']]>', '<![CDATA[', 'a CDATA section')
      if (this.#field !== null && end !== undefined) this.#text += markup.slice(tagAt + 9, end)
    } else if (markup.startsWith('<!--', tagAt)) this.#skip(tagAt + 3, '-->', '--', 'a comment')
    else this.#fault = '"<!" starts neither a comment nor a CDATA section'
  }

  /** Moves behind `closing` and returns its position; `forbidden` before it is a fault. */
  #skip(tagAt: number, closing: string, forbidden: string, what: string): number | undefined {
    const end = this.#markup.indexOf(closing, tagAt + 1)
    const bad = this.#markup.indexOf(forbidden, tagAt + 1)
    if (end === -1 || (bad !== -1 && bad < end)) {
      this.#fault = `${what} is not closed`
      return undefined
    }
    this.#at = end + closing.length
    return end
  }

  #readCloseTag(tagAt: number): void {
    const end = this.#markup.indexOf('>', tagAt)
    if (end === -1) {
      this.#fault = 'a closing tag has no end'
      return
    }
    const name = this.#open.pop() ?? ''
    const nameEnd = tagAt + 2 + name.length
    const isRight = this.#markup.startsWith(name, tagAt + 2) && name !== ''
    if (!isRight || (nameEnd !== end && this.#markup.slice(nameEnd, end).trim() !== '')) {
      this.#fault = `${this.#markup.slice(tagAt, tagAt + 40)} closes another element`
    }
    this.#at = end + 1
    this.#close()
  }

  #close(): void {
    const depth = this.#open.length
    const field = this.#field
    if (field === null) return
    if (depth > 1) {
      // Several images may be elements of a list; other texts have markup in them.
      if (field.field === 'imageLink') this.#text += ' '
      return
    }
    this.#set(field, this.#fieldName, this.#text.trim())
    this.#field = null
  }

  #set(found: FoundField, name: string, value: string): void {
    if (this.#gatherer.set(found, value)) this.#idName = name
  }

  #readOpenTag(tagAt: number): void {
    const tag = readOpenTag(this.#markup, tagAt)
    if (tag === null || (tagAt > 0 && this.#open.length === 0)) {
      this.#fault = `"${this.#markup.slice(tagAt, tagAt + 40)}" is not a tag`
      return
    }
    this.#at = tag.end
    const { name, attributes } = tag
    if (attributes !== null) this.#names.declare(attributes)
    const depth = this.#open.length
    if (depth === 0) this.#readItself(name, attributes)
    if (depth === 1) this.#beginField(name, attributes)
    if (depth >= DEPTH_MAX) this.#fault = `elements are nested deeper than ${DEPTH_MAX}`
    if (tag.isEmpty) this.#close()
    else this.#open.push(name)
  }

  /** `<offer id="1" available="true">`: less sure than elements of the same names. */
  #readItself(itemName: string, attributes: Attributes): void {
    this.#names.item = itemName
    for (const [name, value] of attributes ?? []) {
      const found = this.#names.fieldOf(`@${name}`) ?? this.#names.fieldOf(name)
      if (found !== null) {
        this.#set(
          { ...found, rank: found.rank * TIERS + 3 },
          `@${name}`,
          withoutEntities(value).trim(),
        )
      }
    }
  }

  #beginField(name: string, attributes: Attributes): void {
    const found = this.#names.find(name)
    if (found === null) return
    this.#field = found
    this.#fieldName = name
    this.#text = ''
    if (attributes === null) return
    if (found.field === 'price' || found.field === 'salePrice') {
      const [, unit = ''] =
        attributes.find(([name]) => this.#names.fieldOf(name)?.field === 'currency') ?? []
      if (unit.trim() !== '') this.#field = { ...found, unit: withoutEntities(unit).trim() }
    }
    if (found.field !== 'link') return
    const { href, rel = 'alternate' } = Object.fromEntries(attributes)
    if (href !== undefined && rel === 'alternate') this.#text = withoutEntities(href)
  }
}

type Attributes = readonly (readonly [string, string])[] | null

interface OpenTag {
  readonly name: string
  readonly attributes: Attributes
  readonly isEmpty: boolean
  readonly end: number
}

/** A plain tag, the shape of nearly all: a name and its end. */
function plainTag(markup: string, tagAt: number): OpenTag | null {
  for (let at = tagAt + 1; at < markup.length; at++) {
    const code = markup.charCodeAt(at)
    if (code === GREATER) {
      const name = markup.slice(tagAt + 1, at)
      return name === '' ? null : { name, attributes: null, isEmpty: false, end: at + 1 }
    }
    const isPlain = code >= LETTER_A || code === COLON || code === UNDERSCORE || code === HYPHEN
    if (!isPlain && !(code >= 0x30 && code <= 0x39) && !(code >= 0x41 && code <= 0x5a)) return null
  }
  return null
}

const NAME = /[^\s/>=<"'&!?]+/y
const ATTRIBUTE = /\s+([^\s/>=<"'&]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const TAG_END = /\s*(\/?)>/y

function readOpenTag(markup: string, tagAt: number): OpenTag | null {
  const plain = plainTag(markup, tagAt)
  if (plain !== null) return plain
  const name = matchAt(NAME, markup, tagAt + 1)?.[0]
  if (name === undefined) return null
  let at = tagAt + 1 + name.length
  const attributes: [string, string][] = []
  for (;;) {
    const attribute = matchAt(ATTRIBUTE, markup, at)
    if (attribute === null) break
    at += attribute[0].length
    attributes.push([attribute[1] ?? '', attribute[2] ?? attribute[3] ?? ''])
  }
  const end = matchAt(TAG_END, markup, at)
  if (end === null) return null
  return { name, attributes, isEmpty: end[1] === '/', end: at + end[0].length }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** A number may have zeros before it; no entity is longer than 32 characters. */
const ENTITY = /&(?:#0{0,20}(\d{1,7})|#[xX]0{0,20}([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const CODE_POINT_MAX = 0x10ffff

/** Decodes the entities of XML; a `&` that begins none of them stays as it is. */
export function withoutEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return code > 0 && code <= CODE_POINT_MAX ? String.fromCodePoint(code) : whole
  })
}
