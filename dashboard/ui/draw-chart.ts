/** Draws bars over days or hours with uPlot, and the compared period as a line. */
import UPlot from 'uplot'
import { monthOfYear, shortDay } from '../format.ts'

/** A day (`2026-03-02`) or an hour (`2026-03-02T14:00`), and its figure. */
export interface Point {
  readonly at: string
  readonly value: number
  /** The figure of the same day of the compared period; null if that period has no such day. */
  readonly before?: number | null
}

export interface Drawing {
  readonly points: readonly Point[]
  readonly format: (value: number) => string
  /** The smallest step that a label can show: a cent, or one. */
  readonly unit: number
  /** Points from here on are unfinished. */
  readonly openFrom: string | undefined
}

export const HEIGHT_PX = 220
const FONT = '12px system-ui, sans-serif'
const LABEL_GAP_PX = 10
/** The minimum distance between labelled days. */
const DAY_SPACE_PX = 64
const DAY_AXIS_PX = 30
/** Half the width of the last label, which extends beyond its bar. */
const HALF_LABEL_PX = 30
const YEAR_DAYS = 365
const BAR_PART = 0.72
const BAR_PX_MAX = 40
const BAR_RADIUS = 0.12

export function drawChart(
  element: HTMLElement,
  drawing: Drawing,
  onPoint: (index: number | null) => void,
): UPlot {
  const { points, openFrom } = drawing
  const colours = coloursOf(element)
  const isOpen = ({ at }: Point) => openFrom !== undefined && at >= openFrom
  const hasBefore = points.some(({ before }) => before != null)
  const paths = UPlot.paths.bars?.({ size: [BAR_PART, BAR_PX_MAX], radius: BAR_RADIUS })
  const bar = (fill: string | CanvasPattern): UPlot.Series => ({
    fill: () => fill as string,
    stroke: colours.accent,
    width: typeof fill === 'string' ? 0 : 1,
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
  })
  const line: UPlot.Series = {
    stroke: colours.second,
    width: 1.5,
    dash: [5, 3],
    points: { show: points.length === 1 },
  }
  const options: UPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT_PX,
    padding: [null, HALF_LABEL_PX, null, null],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, points.length - 0.5] },
      y: { range: (_chart, low, high) => [Math.min(0, low), topOf(low, high)] },
    },
    axes: axesOf(drawing, colours),
    series: [{}, bar(colours.accent), bar(hatch(colours.accent)), ...(hasBefore ? [line] : [])],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  }
  const data: UPlot.AlignedData = [
    points.map((_, index) => index),
    points.map((point) => (isOpen(point) ? null : point.value)),
    points.map((point) => (isOpen(point) ? point.value : null)),
    ...(hasBefore ? [points.map(({ before = null }) => before)] : []),
  ]
  return new UPlot(options, data, element)
}

function axesOf({ points, format, unit }: Drawing, colours: Colours): UPlot.Axis[] {
  const axis = { stroke: colours.soft, font: FONT, ticks: { show: false } }
  return [
    {
      ...axis,
      size: DAY_AXIS_PX,
      grid: { show: false },
      incrs: [1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365, 730],
      space: DAY_SPACE_PX,
      values: (_chart, ticks) =>
        ticks.map((tick) => {
          const point = points[tick]
          return point === undefined ? '' : tickName(point.at, points.length)
        }),
    },
    {
      ...axis,
      size: (chart, labels) => widthOf(chart, labels ?? []),
      incrs: stepsFrom(unit),
      grid: { stroke: colours.line, width: 1 },
      values: (_chart, ticks) => withoutCents(ticks.map(format)),
    },
  ]
}

/** A label such as 2 Mar would be ambiguous over more than a year. */
function tickName(at: string, count: number): string {
  if (at.includes('T')) return at.slice('YYYY-MM-DDT'.length)
  return count > YEAR_DAYS ? monthOfYear(at) : shortDay(at)
}

/** Losses alone fill the chart. Without any data, the axis ends at one unit. */
function topOf(low: number, high: number): number {
  if (high > 0) return high * 1.08
  return low < 0 ? 0 : 1
}

/** Fits the longest label, because `$1,000,000` is wider than `$0.50`. */
function widthOf({ ctx }: UPlot, labels: readonly string[]): number {
  ctx.font = FONT
  return Math.ceil(Math.max(0, ...labels.map((text) => ctx.measureText(text).width))) + LABEL_GAP_PX
}

/** With steps of whole dollars, cents add nothing and narrow the bars on a phone. */
function withoutCents(labels: readonly string[]): string[] {
  const isWhole = labels.every((text) => text.endsWith('.00'))
  return labels.map((text) => (isWhole ? text.slice(0, -'.00'.length) : text))
}

/** Round axis steps, at least one unit apart. */
function stepsFrom(unit: number): number[] {
  const powers = Array.from({ length: STEP_POWERS }, (_, power) => unit * 10 ** power)
  return powers.flatMap((power) => [power, 2 * power, 5 * power])
}

/** Up to 5 × 10¹¹ units, more than any day has. */
const STEP_POWERS = 12

interface Colours {
  readonly accent: string
  readonly second: string
  readonly soft: string
  readonly line: string
}

function coloursOf(element: HTMLElement): Colours {
  return {
    accent: colourOf(element, 'text-accent'),
    second: colourOf(element, 'text-second'),
    soft: colourOf(element, 'text-soft'),
    line: colourOf(element, 'text-line'),
  }
}

/** A canvas cannot use CSS classes, so this resolves the color of a class in the current scheme. */
function colourOf(parent: HTMLElement, className: string): string {
  const probe = document.createElement('span')
  probe.className = className
  parent.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const HATCH_PX = 8

/** Diagonal lines, for a day that is not over. */
function hatch(colour: string): CanvasPattern | string {
  const tile = document.createElement('canvas')
  tile.width = HATCH_PX
  tile.height = HATCH_PX
  const context = tile.getContext('2d')
  if (context === null) return colour
  context.strokeStyle = colour
  context.lineWidth = 1.5
  for (const shift of [-HATCH_PX, 0, HATCH_PX]) {
    context.moveTo(shift, HATCH_PX)
    context.lineTo(shift + HATCH_PX, 0)
  }
  context.stroke()
  return context.createPattern(tile, 'repeat') ?? colour
}
