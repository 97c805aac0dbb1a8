/** A bar chart by day, drawn by uPlot. The value under the pointer appears above it. */
import { useEffect, useMemo, useRef, useState } from 'react'
import UPlot from 'uplot'
import { count, date, dollars, monthOfYear, shortDay } from '../format.ts'

interface DayChartProps<Figure extends string> {
  readonly label: string
  /** A new array redraws the chart. */
  readonly days: readonly ({ readonly event_date: string } & Readonly<
    Record<Figure, string | number>
  >)[]
  /** The figure to draw: an amount in dollars, or a count. */
  readonly figure: Figure
  readonly isMoney: boolean
}

/** The data of one drawing. */
interface Bars {
  readonly label: string
  readonly days: readonly string[]
  readonly values: readonly number[]
  readonly format: (value: number) => string
  /** The smallest step that a label can show: a cent, or one. */
  readonly unit: number
}

const HEIGHT_PX = 220
const FONT = '12px system-ui, sans-serif'
const LABEL_GAP_PX = 10
/** The minimum distance between labelled days. */
const DAY_SPACE_PX = 64
const DAY_AXIS_PX = 30
/** Half the width of the last label, which extends beyond its bar. */
const HALF_LABEL_PX = 30
const YEAR_DAYS = 365

export function DayChart<Figure extends string>(props: DayChartProps<Figure>) {
  const { label, days, figure, isMoney } = props
  const bars = useMemo(
    () => ({
      label,
      days: days.map((day) => day.event_date),
      values: days.map((day) => Number(day[figure])),
      format: isMoney ? (value: number) => dollars(value.toFixed(2)) : count,
      unit: isMoney ? 0.01 : 1,
    }),
    [label, days, figure, isMoney],
  )
  const holder = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<number | null>(null)
  const isDark = useScheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scheme has other colours.
  useEffect(() => {
    const element = holder.current
    if (element === null) return
    const chart = drawChart(element, bars, setAt)
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    )
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [bars, isDark])
  const shown = at !== null && at < days.length ? at : null
  return (
    <figure className="panel p-4 pb-2">
      <figcaption className="flex items-baseline justify-between gap-4 text-sm">
        <span className="font-medium">{label} per day</span>
        <span className="number text-soft">{shown === null ? 'UTC' : valueOn(bars, shown)}</span>
      </figcaption>
      <div
        ref={holder}
        role="img"
        aria-label={describe(bars)}
        // Paper is light, but the canvas stays as drawn on screen.
        className={`mt-2 min-h-[220px] ${isDark ? 'print:hue-rotate-180 print:invert' : ''}`}
      />
    </figure>
  )
}

function valueOn({ days, values, format }: Bars, at: number): string {
  return `${date(days[at] ?? '')}, ${format(values[at] ?? 0)}`
}

/** Describes the chart for screen readers. */
function describe(bars: Bars): string {
  const { label, days, values } = bars
  if (values.every((value) => value === 0)) return `${label} per day: no data yet`
  const on = (value: number) => valueOn(bars, values.indexOf(value))
  const most = Math.max(...values)
  const least = Math.min(...values)
  const extremes = [
    ...(most > 0 ? [`most on ${on(most)}`] : []),
    ...(least < 0 ? [`least on ${on(least)}`] : []), // Returns exceeded earnings.
  ]
  const range = `${date(days[0] ?? '')} to ${date(days.at(-1) ?? '')}`
  return `${label} per day, ${range}: ${extremes.join('; ')}`
}

function drawChart(
  element: HTMLDivElement,
  { days, values, format, unit }: Bars,
  onPoint: (index: number | null) => void,
): UPlot {
  const [accent, soft, line] = ['text-accent', 'text-soft', 'text-line'].map((name) =>
    colourOf(element, name),
  )
  const { bars } = UPlot.paths
  // Without data, no amount has a height.
  const isScaled = (tick: number) => tick === 0 || values.some((value) => value !== 0)
  // A label such as 2 Mar would be ambiguous over more than a year.
  const nameOf = days.length > YEAR_DAYS ? monthOfYear : shortDay
  const axis = { stroke: soft ?? '', font: FONT, ticks: { show: false } }
  const options: UPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT_PX,
    padding: [null, HALF_LABEL_PX, null, null],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: (_chart, low, high) => [Math.min(0, low), topOf(low, high)] },
    },
    axes: [
      {
        ...axis,
        size: DAY_AXIS_PX,
        grid: { show: false },
        incrs: [1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365, 730],
        space: DAY_SPACE_PX,
        values: (_chart, ticks) =>
          ticks.map((tick) => (days[tick] === undefined ? '' : nameOf(days[tick]))),
      },
      {
        ...axis,
        size: (chart, labels) => widthOf(chart, labels ?? []),
        incrs: stepsFrom(unit),
        grid: { stroke: line ?? '', width: 1 },
        values: (_chart, ticks) =>
          withoutCents(ticks.map((tick) => (isScaled(tick) ? format(tick) : ''))),
      },
    ],
    series: [
      {},
      {
        fill: accent ?? '',
        stroke: accent ?? '',
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars({ size: [0.72, 40], radius: 0.12 }) }),
      },
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  }
  return new UPlot(options, [days.map((_, index) => index), [...values]], element)
}

/** Losses alone fill the chart. Without any data, it shows grid lines. */
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

/** A canvas cannot use CSS classes, so this resolves the color of a class in the current scheme. */
function colourOf(parent: HTMLElement, className: string): string {
  const probe = document.createElement('span')
  probe.className = className
  parent.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function useScheme(): boolean {
  const [isDark, setDark] = useState(() => matchMedia(DARK).matches)
  useEffect(() => {
    const query = matchMedia(DARK)
    const change = () => setDark(query.matches)
    query.addEventListener('change', change)
    return () => query.removeEventListener('change', change)
  }, [])
  return isDark
}

const DARK = '(prefers-color-scheme: dark)'
