/**
 * A figure by day or hour: bars, and the compared period as a line. The pointer or the arrow keys
 * choose a point, whose value appears beside it and is announced.
 */
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import type UPlot from 'uplot'
import { cents, count, date } from '../format.ts'
import { useIsDark } from '../scheme.ts'
import { type Drawing, drawChart, HEIGHT_PX, type Point } from './draw-chart.ts'

export interface TimeChartProps {
  /** The figure, such as Earnings. */
  readonly label: string
  /** A new array redraws the chart. */
  readonly points: readonly Point[]
  readonly isMoney: boolean
  /** The time zone of the days. */
  readonly zone?: string
  /** Points from here on are unfinished, such as today: they are hatched. */
  readonly openFrom?: string | undefined
  /** Called for a point that somebody clicks, or chooses with Enter. */
  readonly onOpen?: ((at: string) => void) | undefined
}

export function TimeChart(props: TimeChartProps) {
  const { label, points, isMoney, zone = 'UTC', openFrom, onOpen } = props
  const [at, setAt] = useState<number | null>(null)
  const drawing = useMemo(
    (): Drawing => ({
      points,
      format: isMoney ? (value) => cents(String(value)) : count,
      unit: isMoney ? 0.01 : 1,
      openFrom,
    }),
    [points, isMoney, openFrom],
  )
  const { holder, chart, isDark } = useChart(drawing, setAt)
  const shown = at !== null && at < points.length ? at : null
  const unit = points[0]?.at.includes('T') === true ? 'hour' : 'day'
  const open = (index: number | null) => {
    const point = index === null ? undefined : points[index]
    if (point !== undefined) onOpen?.(point.at)
  }
  return (
    <figure className="panel p-4 pb-2">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 text-sm">
        <span className="font-medium">
          {label} per {unit}
        </span>
        <Legend points={points} zone={zone} />
      </figcaption>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups form fields. */}
      <div
        role="group"
        aria-label={`${label}: arrow keys move between points`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the point.
        tabIndex={0}
        className={`relative mt-2 rounded-md ${onOpen === undefined ? '' : 'cursor-pointer'}`}
        onKeyDown={(event) => {
          if (event.key === 'Enter') open(shown)
          else move(event, shown, points.length, setAt)
        }}
        onBlur={() => setAt(null)}
        onPointerLeave={() => setAt(null)}
        onClick={() => open(shown)}
      >
        <div
          ref={holder}
          role="img"
          aria-label={describe(`${label} per ${unit}`, drawing)}
          // Paper is light, but the canvas stays as drawn on screen.
          className={`min-h-[220px] ${isDark ? 'print:hue-rotate-180 print:invert' : ''}`}
        />
        {shown !== null && chart !== null && (
          <Value drawing={drawing} index={shown} chart={chart} />
        )}
        <span aria-live="polite" className="sr-only">
          {shown === null ? '' : valueOn(drawing, shown)}
        </span>
      </div>
    </figure>
  )
}

function useChart(drawing: Drawing, onPoint: (index: number | null) => void) {
  const holder = useRef<HTMLDivElement>(null)
  const [chart, setChart] = useState<UPlot | null>(null)
  const isDark = useIsDark()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scheme has other colours.
  useEffect(() => {
    const element = holder.current
    if (element === null) return
    const drawn = drawChart(element, drawing, onPoint)
    setChart(drawn)
    const observer = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    )
    observer.observe(element)
    return () => {
      observer.disconnect()
      drawn.destroy()
      setChart(null)
    }
  }, [drawing, isDark])
  return { holder, chart, isDark }
}

function Legend({ points, zone }: { points: readonly Point[]; zone: string }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-4 text-xs text-soft">
      {points.some(({ before }) => before != null) && (
        <span className="flex min-w-0 items-center gap-1.5">
          <span className="w-5 shrink-0 border-t-2 border-dashed border-second" />
          compared period
        </span>
      )}
      {zone}
    </span>
  )
}

/** The value beside the point, on the side with more room. */
function Value({ drawing, index, chart }: { drawing: Drawing; index: number; chart: UPlot }) {
  const { points, format } = drawing
  const point = points[index]
  if (point === undefined) return null
  const { left: offset, width } = chart.bbox
  const x = (offset + chart.valToPos(index, 'x') * devicePixelRatio) / devicePixelRatio
  const y = chart.valToPos(Math.max(0, point.value), 'y')
  const isLeft = chart.valToPos(index, 'x') > width / devicePixelRatio / 2
  return (
    <div
      aria-hidden="true"
      className={`number pointer-events-none absolute z-[1] rounded-md border border-line bg-panel px-2.5 py-1.5 text-xs whitespace-nowrap shadow-md shadow-black/10 ${isLeft ? '-translate-x-[calc(100%+12px)]' : 'translate-x-3'}`}
      style={{ left: x, top: Math.max(0, Math.min(y, HEIGHT_PX - VALUE_PX)) }}
    >
      <span className="block text-soft">{nameOf(point.at)}</span>
      <span className="block text-sm font-semibold">{format(point.value)}</span>
      {point.before != null && (
        <span className="block text-second">{format(point.before)} before</span>
      )}
    </div>
  )
}

/** The height of the box with a value, above the axis. */
const VALUE_PX = 90

function move(
  event: KeyboardEvent,
  at: number | null,
  length: number,
  setAt: (at: number) => void,
): void {
  const to = { ArrowLeft: (at ?? length) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: length - 1 }
  const wanted = to[event.key as keyof typeof to]
  if (wanted === undefined || length === 0) return
  event.preventDefault()
  setAt(Math.min(Math.max(wanted, 0), length - 1))
}

/** `2 Mar 2026`, or with the hour. */
const nameOf = (at: string): string =>
  at.includes('T') ? `${date(at.slice(0, 10))}, ${at.slice(11)}` : date(at)

function valueOn({ points, format, openFrom }: Drawing, index: number): string {
  const point = points[index]
  if (point === undefined) return ''
  const before = point.before == null ? '' : `, ${format(point.before)} before`
  const open = openFrom !== undefined && point.at >= openFrom ? ', not over yet' : ''
  return `${nameOf(point.at)}: ${format(point.value)}${before}${open}`
}

/** Describes the chart for screen readers. */
function describe(label: string, drawing: Drawing): string {
  const values = drawing.points.map(({ value }) => value)
  if (values.every((value) => value === 0)) return `${label}: no data yet`
  const on = (value: number) =>
    `${nameOf(drawing.points[values.indexOf(value)]?.at ?? '')}, ${drawing.format(value)}`
  const most = Math.max(...values)
  const least = Math.min(...values)
  const extremes = [
    ...(most > 0 ? [`most on ${on(most)}`] : []),
    ...(least < 0 ? [`least on ${on(least)}`] : []), // Returns exceeded earnings.
  ]
  const [first, last] = [drawing.points[0], drawing.points.at(-1)]
  return `${label}, ${nameOf(first?.at ?? '')} to ${nameOf(last?.at ?? '')}: ${extremes.join('; ')}`
}
