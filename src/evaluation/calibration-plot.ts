/**
 * The plot of an evaluation: predicted against actual rates, as a plain SVG that opens anywhere.
 */
import type { Evaluation } from './evaluate.ts'

const SIZE = 480
const MARGIN = 56
const PLOT = SIZE - 2 * MARGIN
/** Labels along an axis: more would overlap. */
const MARKS_MAX = 5

/** One dot for each twentieth of the clicks; a good prediction lies on the diagonal. */
export function calibrationPlot({ bins, methods, clicks, orders }: Evaluation): string {
  const rates = bins.flatMap(({ predicted, actual }) => [predicted, actual])
  const top = Math.max(1e-6, ...rates) * 1.1
  const x = (rate: number) => round(MARGIN + (rate / top) * PLOT)
  const y = (rate: number) => round(SIZE - MARGIN - (rate / top) * PLOT)
  const dots = bins.map(
    ({ predicted, actual }) =>
      `<circle cx="${x(predicted)}" cy="${y(actual)}" r="5" fill="#2563eb" fill-opacity="0.7"/>`,
  )
  const step = roundStep(top / MARKS_MAX)
  const ticks = Array.from({ length: Math.floor(top / step) }, (_, at) => {
    const rate = (at + 1) * step
    const label = `${Number((rate * 100).toPrecision(3))} %` // Not 7.000000000000001.
    return [
      `<text x="${x(rate)}" y="${SIZE - MARGIN + 18}" text-anchor="middle">${label}</text>`,
      `<text x="${MARGIN - 6}" y="${y(rate) + 4}" text-anchor="end">${label}</text>`,
    ]
  }).flat()
  const counted = `${Math.round(clicks)} clicks, ${Math.round(orders)} orders`
  const measured =
    methods === null
      ? 'nothing to measure'
      : `normalised entropy ${methods.ours.normalisedEntropy?.toFixed(4) ?? 'unknown'}, ` +
        `calibration ${methods.ours.calibration.toFixed(3)}`
  const title = `${counted}: ${measured}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE}" role="img"`,
    ` font-family="sans-serif" font-size="11" aria-label="${title}">`,
    `<rect width="${SIZE}" height="${SIZE}" fill="#fff"/>`,
    `<text x="${SIZE / 2}" y="24" text-anchor="middle" font-size="13">${title}</text>`,
    `<path d="M${x(0)} ${y(0)}H${x(top)}M${x(0)} ${y(0)}V${y(top)}" stroke="#374151" fill="none"/>`,
    `<path d="M${x(0)} ${y(0)}L${x(top)} ${y(top)}" stroke="#9ca3af" stroke-dasharray="4 4"/>`,
    ...ticks,
    ...dots,
    `<text x="${SIZE / 2}" y="${SIZE - 14}" text-anchor="middle">predicted orders per click</text>`,
    `<text x="12" y="${SIZE / 2}" text-anchor="middle" `,
    `transform="rotate(-90 12 ${SIZE / 2})">actual orders per click</text>`,
    '</svg>\n',
  ].join('')
}

/** The least of 1, 2 and 5 times a power of ten that is not below `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return power * ([1, 2, 5].find((digit) => digit * power >= least) ?? 10)
}

const round = (value: number): number => Math.round(value * 100) / 100
