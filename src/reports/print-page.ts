/** What pages to print share: their style, their headers, and how amounts are written. */
export const PRINT_STYLE = `
  body { font: 14px/1.5 system-ui, sans-serif; max-width: 42em; margin: 3em auto; padding: 0 1em;
    overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; margin: 1.5em 0; }
  th, td { padding: .3em .6em; border-bottom: 1px solid #ccc; text-align: right; }
  th:first-child { text-align: left; }
  td, thead th { overflow-wrap: normal; }
  tbody th { font-weight: inherit; }
  td { font-variant-numeric: tabular-nums; }
  .sums { break-inside: avoid; }
  .sums tr:last-child { font-weight: bold; }
  @page { margin: 2cm; }
  @media print { body { margin: 0; padding: 0; max-width: none; } }
`

/** A page without scripts and without external resources. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
}

const WHOLE = new Intl.NumberFormat('en-US')
const CENTS_DIGITS = 2

/** Enough decimals to show every amount exactly; rounded to cents, lines would not add up. */
export function digitsOf(amounts: readonly string[]): number {
  return Math.max(CENTS_DIGITS, ...amounts.map((exact) => exact.split('.')[1]?.length ?? 0))
}

/** `-1234.5` → `−1,234.50`. */
export function printedDollars(exact: string, digits: number): string {
  const [whole = '0', fraction = ''] = exact.replace('-', '').split('.')
  const sign = exact.startsWith('-') ? '−' : ''
  return `${sign}${WHOLE.format(BigInt(whole))}.${fraction.padEnd(digits, '0')}`
}

export const printedMonth = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})

/** The amount with the other sign; zero has none. */
export function negative(exact: string): string {
  if (exact.startsWith('-')) return exact.slice(1)
  return Number(exact) === 0 ? exact : `-${exact}`
}
