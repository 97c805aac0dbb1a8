/** Finds the element of an XML feed that is repeated for each product. */
import type { FieldFinder, FieldName } from './feed-columns.ts'

export interface XmlElements {
  /** The first element, or an empty text when there is none. */
  readonly root: string
  /** The element of a product, with its prefix; null when it was not found. */
  readonly item: string | null
}

/** What a tag may hold between its name and its end; longer ones are passed over. */
const TAG =
  /<!--.{0,10000}?-->|<!\[CDATA\[.{0,100000}?\]\]>|<(\/?)([^\s/>!?"'<&=]{1,100})([^<>]{0,4000})>/gs
const ATTRIBUTE_NAME = /([^\s=<>"'/]{1,100})\s*=\s*["']/g

const NEEDED: ReadonlySet<FieldName> = new Set(['id', 'title', 'link', 'price'])
/** One of the four may be missing in the items seen, or named in a way that nobody knows. */
const NEEDED_MIN = 3
const DEPTH_MAX = 32

/** Roots of which the item is known, even where no item says enough. */
const ITEM_OF: Readonly<Record<string, string>> = {
  rss: 'item',
  'rdf:RDF': 'item',
  channel: 'item',
  items: 'item',
  feed: 'entry',
}

/** Of all elements of one name: how many qualify, and how near the root the first one is. */
interface Candidate {
  readonly name: string
  readonly depth: number
  count: number
}

interface OpenElement {
  readonly name: string
  readonly fields: Set<FieldName>
}

/**
 * The element that `named` says, with its prefix, or the outermost repeated one whose own children
 * and attributes name at least three of id, title, link and price, by what `start` holds.
 */
export function findXmlElements(
  start: string,
  fieldOf: FieldFinder,
  named: string | null = null,
): XmlElements {
  let root = ''
  const candidates = new Map<string, Candidate>()
  const open: OpenElement[] = []
  const note = (element: OpenElement | undefined, name: string) => {
    if (element === undefined || element.fields.size >= NEEDED_MIN) return
    const whole = fieldOf(name)
    let found =
      whole !== null && whole.rank < 0 ? whole : fieldOf(name.slice(name.indexOf(':') + 1))
    for (; found; found = found.also ?? null) {
      if (NEEDED.has(found.field)) element.fields.add(found.field)
    }
    if (element.fields.size < NEEDED_MIN) return
    const depth = open.indexOf(element)
    const candidate = candidates.get(element.name) ?? { name: element.name, depth, count: 0 }
    candidate.count++
    candidates.set(element.name, candidate)
  }
  for (const [, slash, name, rest = ''] of start.matchAll(TAG)) {
    if (name === undefined) continue
    if (slash === '/') {
      const at = open.findLastIndex((element) => element.name === name)
      if (at !== -1) open.length = at
      continue
    }
    root ||= name
    if (named !== null && isNamed(name, named)) return { root, item: name }
    note(open.at(-1), name)
    const element = { name, fields: new Set<FieldName>() }
    if (open.length < DEPTH_MAX) open.push(element)
    for (const [, attribute = ''] of rest.matchAll(ATTRIBUTE_NAME)) note(element, attribute)
    if (rest.endsWith('/') && open.at(-1) === element) open.pop()
  }
  return { root, item: named === null ? chooseItem(root, [...candidates.values()]) : null }
}

function isNamed(name: string, named: string): boolean {
  return name === named || name.endsWith(`:${named}`)
}

function chooseItem(root: string, candidates: readonly Candidate[]): string | null {
  const known = ITEM_OF[root]
  if (candidates.length === 0 || candidates.some(({ name }) => name === known)) return known ?? null
  const repeated = candidates.filter(({ count }) => count > 1)
  // Repeated ones may hold others, such as variants. Among single ones the outer may be the list,
  // which then holds the children of an item whose opening tag was lost.
  const sorted = candidates.toSorted((one, other) => one.depth - other.depth)
  const outermost = repeated.toSorted((one, other) => one.depth - other.depth)[0]
  return (outermost ?? sorted.at(-1))?.name ?? null
}
