/** Prints an auction's explanation: winner, price and reason, then every candidate. */
import type { Explanation } from '../auction/explanation-schema.ts'
import { formatResult, formatTable } from './print.ts'

type Explained = Explanation & { readonly clicks: readonly unknown[] }

/** The result of `souk explain`; without a receipt only the facts. */
export function formatExplanation(result: unknown, columns?: number): string {
  if (!hasCandidates(result)) return formatResult(result, columns)
  const { candidates, clicks } = result
  const rows = candidates.map(candidateRow)
  return [
    ...headLines(result),
    '',
    'Candidates, best first:',
    formatTable(rows, { cellWidthMax: Number.POSITIVE_INFINITY, columns }),
    '',
    'Clicks:',
    formatTable(clicks, { columns }),
  ].join('\n')
}

function hasCandidates(result: unknown): result is Explained {
  return typeof result === 'object' && result !== null && 'candidates' in result
}

function headLines(of: Explained): string[] {
  const { outcome, request, publisher } = of
  const lines = [
    ['Auction', `${of.auction_result_number}, ${of.at}, publisher ${of.pub_id}`],
    ['Outcome', outcomeWords(of)],
    ['Why', outcome.price_why ?? outcome.reason?.why ?? ''],
    ['Link', linkWords(request)],
    ['Reader', `${request.device}, country ${request.country ?? 'unknown'}`],
    ['Publisher', publisher === null ? '' : publisherWords(publisher)],
    ['Replay', replayWords(of)],
  ]
  return lines
    .filter(([, text]) => text !== '')
    .map(([name = '', text]) => `${name.padEnd(9)}  ${text}`)
}

function outcomeWords({ outcome }: Explained): string {
  const { campaign_id, merch_id, price, publisher_earns, platform_keeps, explored } = outcome
  const how = explored ? ', in an auction that explored' : ''
  if (!outcome.won) return `nobody won${how}`
  const parts = `publisher $${publisher_earns}, platform $${platform_keeps}`
  return `campaign ${campaign_id} of merchant ${merch_id} won at $${price} (${parts})${how}`
}

function linkWords(request: Explained['request']): string {
  const { original_merch_id: merchId, original_price: price } = request
  const locked = request.exclusive_match_requested ? 'exclusive' : 'open'
  const whose = merchId === 0 ? 'of nobody in the network' : `of merchant ${merchId}`
  const stock = request.original_is_in_stock ? '' : ', out of stock'
  const asked = price === null ? 'price unknown' : `$${price}`
  return `${locked}, ${whose}, ${asked}${stock}; ${request.pricing.replace('_', ' ')}`
}

function publisherWords(publisher: NonNullable<Explained['publisher']>): string {
  const percent = (part: number) => `${Number((part * 100).toFixed(4))} %`
  return [
    `share ${percent(publisher.share)}`,
    `floor $${publisher.floor}`,
    `tolerance ${percent(publisher.tolerance)}`,
    `beta ${publisher.beta}`,
    `epsilon ${percent(publisher.epsilon)}`,
    ...(publisher.require_price ? ['price required'] : []),
  ].join(', ')
}

function replayWords({ replay, rule_version, engine }: Explained): string {
  const by = `rules ${rule_version}, engine ${engine}`
  if (replay.kind === 'equal') return `the same to the bit (${by})`
  if (replay.kind === 'other_rules') return `not possible: held under other rules (${by})`
  return `DIFFERENT in ${replay.field}: stored ${replay.stored}, now ${replay.replayed} (${by})`
}

function candidateRow(candidate: Explained['candidates'][number]) {
  const { value_micros: value, score_micros: score, weight } = candidate
  const micros = (amount: number | null) => (amount === null ? null : (amount / 1e6).toFixed(6))
  return {
    campaign: candidate.campaign_id,
    merchant: candidate.merch_id,
    offer: candidate.offer_id,
    model: candidate.model,
    price: candidate.price,
    bid: candidate.bid,
    worth: micros(value),
    weight: weight === null ? null : Number(weight.toFixed(4)),
    score: micros(score),
    reserve: candidate.reserve,
    why: candidate.won ? 'won' : (candidate.loss?.why ?? ''),
  }
}
