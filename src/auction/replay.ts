/**
 * Runs a stored auction again and compares the outcome, to the bit.
 *
 * The core uses no arithmetic that engines may round differently (draw.ts), so a receipt replays on
 * every machine. A difference names the engine because it would be the first suspect.
 */

import { MODEL } from '../events/event.ts'
import { type PayTerms, packTerms } from '../events/pay-terms.ts'
import type { Replay } from './explanation-schema.ts'
import { createOutcome, type Outcome } from './outcome.ts'
import type { StoredAuction } from './receipt.ts'
import { canReplay, runAuction } from './run-auction.ts'

const FIELDS = [
  'winner',
  'priceMicros',
  'score',
  'runnerUp',
  'runnerUpScore',
  'eligible',
  'explored',
  'reason',
  'reserveMicros',
  'ratePpm',
  'regretMicros',
] as const satisfies readonly (keyof Outcome)[]

/** Compares a receipt with its own inputs run again. */
export function replayStored(auction: StoredAuction): Replay {
  if (!canReplay(auction.ruleVersion)) {
    return { kind: 'other_rules', ruleVersion: auction.ruleVersion }
  }
  const again = rerun(auction)
  const { outcome: stored, engine } = auction
  for (const field of FIELDS) {
    if (stored[field] !== again[field]) {
      return { kind: 'different', field, stored: stored[field], replayed: again[field], engine }
    }
  }
  for (let i = 0; i < auction.set.n; i++) {
    const [was, is] = [stored.losses[i] as number, again.losses[i] as number]
    if (was !== is) {
      return { kind: 'different', field: `losses[${i}]`, stored: was, replayed: is, engine }
    }
  }
  return { kind: 'equal' }
}

/** The sealed terms of a click that its auction's receipt also contains. */
export interface ClickTerms {
  readonly pubId: number
  readonly merchId: number
  readonly campaignId: number
  readonly terms: PayTerms
  readonly sharePpm: number
}

/**
 * The first field in which a paid click differs from its auction; null if none does. The log says
 * what is paid and the receipt says why, so a change to either is found by the other. For a
 * commission the receipt has its worth, not its rate.
 */
export function compareClick(
  { set, request, outcome }: StoredAuction,
  click: ClickTerms,
): { readonly field: string; readonly stored: number; readonly clicked: number } | null {
  const { winner, priceMicros } = outcome
  const { pubId, sharePpm } = request.publisher
  const { model, amount } = packTerms(click.terms)
  const pairs = {
    pubId: [pubId, click.pubId],
    merchId: [set.merchId[winner] ?? 0, click.merchId],
    campaignId: [set.campaignId[winner] ?? 0, click.campaignId],
    model: [set.model[winner] ?? MODEL.none, model],
    priceMicros: [model === MODEL.cpc ? priceMicros : amount, amount],
    sharePpm: [sharePpm, click.sharePpm],
  } as const
  for (const [field, [stored, clicked]] of Object.entries(pairs)) {
    if (stored !== clicked) return { field, stored, clicked }
  }
  return null
}

/** The outcome of a stored auction's inputs, in a new record. */
export function rerun({
  set,
  request,
  resultNumber,
}: Pick<StoredAuction, 'set' | 'request' | 'resultNumber'>): Outcome {
  const outcome = createOutcome()
  runAuction(set, request, resultNumber, outcome)
  return outcome
}
