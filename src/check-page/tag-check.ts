/**
 * The result of a check that a publisher asked for: bounded, because the page decides most of it,
 * and with its findings in words.
 */
import Type, { type Static } from 'typebox'
import { TextOrNull } from '../platform/http/field-types.ts'
import type { CheckedLink, CheckPageResult } from './check-page.ts'

/** More links than an article has; a page may have a million. */
const LINKS_MAX = 300
/** Of each list of sentences. */
const LINES_MAX = 20
/** Longer than every URL of a link; longer texts are cut. */
const TEXT_MAX = 2_048

const Finding = Type.Object({
  level: Type.Enum(['good', 'note', 'problem']),
  text: Type.String({ description: 'What the check found' }),
  fix: Type.Union([Type.String(), Type.Null()], { description: 'What to do about it' }),
})
export type Finding = Static<typeof Finding>

const CheckedLinkRecord = Type.Object({
  text: Type.String(),
  url: Type.String(),
  status: Type.Enum(['auctioned', 'waiting', 'left']),
  why: Type.String(),
  auction_id: TextOrNull,
  destination: TextOrNull,
  has_winner: Type.Union([Type.Boolean(), Type.Null()]),
  product: TextOrNull,
  merchant: TextOrNull,
  price: TextOrNull,
  earns: Type.Union([Type.String(), Type.Null()], { description: 'US dollars per click' }),
})

export const TagCheckResult = Type.Object({
  findings: Type.Array(Finding),
  tag: Type.Enum(['on_page', 'inserted'], {
    description: '`inserted`: the page has no tag, and the check ran it as if it had',
  }),
  publisher: Type.String({ description: 'The slug that the tag names' }),
  consent: TextOrNull,
  consent_source: TextOrNull,
  links: Type.Array(CheckedLinkRecord, { description: `The first ${LINKS_MAX}` }),
  total_links: Type.Integer(),
  page_errors: Type.Array(Type.String()),
})
export type TagCheckResult = Static<typeof TagCheckResult>

/** The stored form of what a check found. Throws a TypeError where the page broke the report. */
export function toTagCheckResult(found: CheckPageResult): TagCheckResult {
  return {
    findings: findingsOf(found).map(({ level, text, fix }) => ({
      level,
      text: plain(text),
      fix: fix === null ? null : plain(fix),
    })),
    tag: found.tag,
    publisher: plain(found.publisher),
    consent: plainOrNull(found.consent),
    consent_source: plainOrNull(found.consent_source),
    links: found.links.slice(0, LINKS_MAX).map(toLink),
    total_links: found.links.length,
    page_errors: lines(found.page_errors),
  }
}

function toLink(link: CheckedLink): TagCheckResult['links'][number] {
  const { status, has_winner: hasWinner } = link
  return {
    text: plain(link.text),
    url: plain(link.url),
    status: status === 'auctioned' || status === 'waiting' ? status : 'left',
    why: plain(link.why),
    auction_id: plainOrNull(link.auction_id),
    destination: plainOrNull(link.destination),
    has_winner: typeof hasWinner === 'boolean' ? hasWinner : null,
    product: plainOrNull(link.product),
    merchant: plainOrNull(link.merchant),
    price: plainOrNull(link.price),
    earns: link.earns,
  }
}

/** PostgreSQL stores no NUL and no half of a surrogate pair. */
function plain(text: unknown): string {
  const known = typeof text === 'string' ? text : ''
  return known.slice(0, TEXT_MAX).replaceAll('\0', '').toWellFormed()
}

const plainOrNull = (text: unknown) => (typeof text === 'string' ? plain(text) : null)

const lines = (texts: readonly unknown[]) => texts.slice(0, LINES_MAX).map(plain)

/** In the order in which to act on them. */
function findingsOf(found: CheckPageResult): Finding[] {
  return [
    tagFinding(found),
    ...lines(found.blocked).map((text) => problem(text)),
    ...lines(found.other_tags).map((name) =>
      note(
        `Another link tag is on the page: ${name}.`,
        `Exclude ${hostOf(found.service)} in its settings, so that it leaves these links alone.`,
      ),
    ),
    ...consentFindings(found),
    ...linkFindings(found),
    ...(found.page_errors.length === 0
      ? []
      : [
          note(
            `Scripts of the page failed: ${found.page_errors.length}.`,
            'Usually harmless for the tag. The errors are listed below for your developers.',
          ),
        ]),
  ]
}

const good = (text: string): Finding => ({ level: 'good', text, fix: null })
const note = (text: string, fix: string | null = null): Finding => ({ level: 'note', text, fix })
const problem = (text: string, fix: string | null = null): Finding => ({
  level: 'problem',
  text,
  fix,
})

function tagFinding({ tag }: CheckPageResult): Finding {
  if (tag === 'on_page') return good('The tag is on the page.')
  return problem(
    'The tag is not on the page. The check ran it as if it were.',
    'Add the tag to the page, or to the template of your articles.',
  )
}

/** A refusal is among the blocked ones already. */
function consentFindings({ consent, consent_source: source }: CheckPageResult): Finding[] {
  if (consent === 'full') return [good(`Consent is given (${source ?? 'default'}).`)]
  if (consent !== 'unknown') return []
  return [note('No consent tool answered: the consent default of your settings applies.')]
}

function linkFindings({ links: all }: CheckPageResult): Finding[] {
  if (all.length === 0) {
    return [note('The tag found no links on the page.', 'Check an article that links to shops.')]
  }
  const won = all.filter(({ has_winner: hasWinner }) => hasWinner === true).length
  const lost = all.filter(({ has_winner: hasWinner }) => hasWinner === false).length
  const waiting = all.filter(({ status }) => status === 'waiting').length
  return [
    won > 0
      ? good(`Links that earn now: ${won} of ${all.length}.`)
      : note(
          `No link earns now, of ${all.length} on the page.`,
          'The list of links says why for each. Link to products that merchants of the network sell.',
        ),
    ...(lost === 0
      ? []
      : [
          note(
            `Nobody bid for ${links(lost)}: readers go to the original page.`,
            'Link to products that merchants of the network sell, or lower your floors.',
          ),
        ]),
    ...(waiting === 0
      ? []
      : [
          problem(
            `The auction gave no answer for ${links(waiting)}.`,
            'Check the page again. If that does not help, compare the ids with your list of links.',
          ),
        ]),
  ]
}

const links = (count: number) => (count === 1 ? '1 link' : `${count} links`)

const hostOf = (service: string) => URL.parse(service)?.host ?? service
