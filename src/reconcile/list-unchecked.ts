/** Lists the figures that reconciliation cannot check, each with its reason. */
import type { UsedTotals } from './check-totals.ts'

export function listUnchecked(totals: UsedTotals | null): string[] {
  return [
    'auction_day: no event records an auction without a click, so missing auctions are not found; ' +
      'its dimensions are compared with each other',
    'click_figure: the log does not name the version of an offer, so the product is that of the ' +
      'stored click',
    ...(totals === null
      ? []
      : [
          `page_slot: the views of some days from ${totals.from} to ${totals.to} are deleted, so ` +
            'their sums are compared and their time of day is not',
        ]),
  ]
}
