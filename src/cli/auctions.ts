/** `souk explain` and `souk replay`: why an auction ended as it did, and whether it still would. */
import { awaitReceipt } from '../auction/await-receipt.ts'
import { explainAuction, explainWithoutReceipt } from '../auction/explain.ts'
import { type StoredAuction, unpackReceipt } from '../auction/receipt.ts'
import { receiptsOfDay } from '../auction/receipt-store.ts'
import { compareClick, replayStored } from '../auction/replay.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { findResultOfClick, listClicksOfResult, listClickTerms } from '../stats/click-store.ts'
import type { CommandContext } from './command.ts'

export async function explainCommand(context: CommandContext, options: { auctionResult: Buffer }) {
  const asked = options.auctionResult
  const db = await context.database()
  const resultNumber = (await findResultOfClick(db, asked.toString('hex'))) ?? asked
  const packed = await awaitReceipt(db, resultNumber)
  const clicks = await listClicksOfResult(db, resultNumber)
  if (packed !== null) return { ...explainAuction(unpackReceipt(packed)), clicks }
  if (clicks.length > 0) return { ...explainWithoutReceipt(resultNumber), clicks }
  const message = `No receipt and no click of result ${resultNumber.toString('hex')}`
  throw notFound(message)
}

/** Also checks that the clicks on these auctions cost the computed price, and the publisher. */
export async function replayCommand(context: CommandContext, options: { date: string }) {
  const db = await context.database()
  const differences: object[] = []
  let auctions = 0
  let otherRules = 0
  for await (const rows of receiptsOfDay(db, options.date)) {
    const terms = await listClickTerms(
      db,
      rows.map(({ result_number }) => result_number),
    )
    const clicks = Map.groupBy(terms, ({ resultNumber }) => resultNumber)
    for (const { result_number, packed } of rows) {
      auctions += 1
      const number = result_number.toString('hex')
      const auction = unpackReceipt(packed)
      const stored = auction.resultNumber.toString('hex')
      if (stored !== number) {
        differences.push({ auction_result_number: number, field: 'resultNumber', stored })
      }
      const again = replayStored(auction)
      if (again.kind === 'other_rules') otherRules += 1
      if (again.kind === 'different') {
        const { kind: _, ...difference } = again
        differences.push({ auction_result_number: number, ...difference })
      }
      differences.push(...clickDifferences(auction, clicks.get(number) ?? []))
    }
    context.progress(`${auctions} auctions run again, ${differences.length} different`)
  }
  // Auctions under other rules than this program's cannot be checked by it.
  return { auctions, differences, other_rules: otherRules }
}

function clickDifferences(
  auction: StoredAuction,
  clicks: Awaited<ReturnType<typeof listClickTerms>>,
): object[] {
  return clicks.flatMap(({ resultNumber, clickId, ...terms }) => {
    const difference = compareClick(auction, terms)
    if (difference === null) return []
    return [{ auction_result_number: resultNumber, click_id: clickId, ...difference }]
  })
}
