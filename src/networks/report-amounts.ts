/**
 * Reads amounts as networks and spreadsheets write them (docs/spec/networks.md#amounts).
 *
 * `4,500` may be four and a half, or four and a half thousand. The whole file decides: `0,045` or
 * `1295,97` in another row proves a decimal comma.
 */

import { badRequest } from '../platform/errors/api-errors.ts'
import { decimalSign, readAmount } from '../platform/money/read-price.ts'
import type { ReportCell } from './report-dates.ts'

export const DECIMAL_SEPARATORS = ['.', ','] as const
export type DecimalSeparator = (typeof DECIMAL_SEPARATORS)[number]

/** How the amounts of a file are written. */
export interface AmountStyle {
  /** Null if no amount of the file proves it, and the map does not name it. */
  readonly decimal: DecimalSeparator | null
}

export interface ReportAmount {
  /** Whole millionths of the currency. Smaller fractions, which networks print, are cut. */
  readonly millionths: bigint
  /** Null if neither the cell nor `usual` names one. */
  readonly currency: string | null
}

export interface AmountFault {
  readonly reason: 'amount_unreadable' | 'amount_ambiguous' | 'currency_unknown'
  readonly detail: string | null
}

/**
 * Decides the decimal separator of all amounts of a file. Throws a 400 that names two lines when
 * they contradict each other.
 */
export function decideAmountStyle(
  cells: readonly ReportCell[],
  { named, columnSeparator }: { named?: DecimalSeparator | undefined; columnSeparator: string },
): AmountStyle {
  if (named !== undefined) return { decimal: named }
  const proofs = new Map<DecimalSeparator, ReportCell>()
  const open = new Set<DecimalSeparator>()
  for (const cell of cells) {
    const shown = decimalSign([cell.text])
    if (shown === '.' || shown === ',') {
      // An invalid cell proves nothing about valid ones.
      if (!proofs.has(shown) && isAmount(cell.text, shown)) proofs.set(shown, cell)
    } else {
      for (const sign of DECIMAL_SEPARATORS) {
        if (cell.text.includes(sign) && isAmount(cell.text, sign)) open.add(sign)
      }
    }
  }
  const [one, other] = [...proofs.values()]
  if (one !== undefined && other !== undefined) {
    const rule =
      `line ${one.line} has ${JSON.stringify(one.text)} and line ${other.line} has ` +
      `${JSON.stringify(other.text)}: the decimal separator is not the same; ` +
      'fix the file, or name decimal_separator in the map'
    throw badRequest([{ field: 'amounts', rule }])
  }
  const [proven] = proofs.keys()
  // Programs separate columns with semicolons where the comma is the decimal separator.
  const guess = columnSeparator === ';' && open.has(',') && !open.has('.') ? ',' : null
  return { decimal: proven ?? guess }
}

function isAmount(text: string, decimal: DecimalSeparator): boolean {
  return readAmount(bracketed(text), { usual: 'USD', decimal }).kind === 'amount'
}

/**
 * Reads one amount. `usual` is its currency if the cell shows none. It also decides what `1.299`
 * means in a file without proof.
 */
export function readReportAmount(
  written: string,
  { decimal }: AmountStyle,
  usual: string | null,
): ReportAmount | AmountFault {
  const reading = readAmount(bracketed(written), { usual, decimal })
  if (reading.kind === 'amount') {
    const [whole = '0', fraction = ''] = reading.amount.split('.')
    const millionths = BigInt(`${whole}${fraction.slice(0, 6).padEnd(6, '0')}`)
    const signed = reading.isNegative ? -millionths : millionths
    return { millionths: signed, currency: reading.currency }
  }
  if (reading.kind === 'currency_unknown') return { reason: 'currency_unknown', detail: null }
  const isAmbiguous = decimal === null && isAmount(written, '.') && isAmount(written, ',')
  if (isAmbiguous) {
    const detail = `${reading.why}; name decimal_separator in the map`
    return { reason: 'amount_ambiguous', detail }
  }
  const style = decimal === null ? '' : `; the file's decimal separator is "${decimal}"`
  return { reason: 'amount_unreadable', detail: `${reading.why || 'is empty'}${style}` }
}

/** Rewrites `$(20.00)` as `($20.00)`, the other spreadsheet notation of a negative amount. */
function bracketed(text: string): string {
  return text.replace(/^([^()]+)\(([^()]*)\)([^()]*)$/, '($1$2$3)')
}
