/** A tiny line of a figure over days. The words beside it are for screen readers. */

const WIDTH_PX = 72
const HEIGHT_PX = 18
const EDGE_PX = 2

export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(...values, 0)
  if (most === 0) return <span className="text-soft">–</span>
  const step = (WIDTH_PX - 2 * EDGE_PX) / Math.max(values.length - 1, 1)
  const points = values.map((value, at) => {
    const height = (Math.max(value, 0) / most) * (HEIGHT_PX - 2 * EDGE_PX)
    return `${(EDGE_PX + at * step).toFixed(1)},${(HEIGHT_PX - EDGE_PX - height).toFixed(1)}`
  })
  return (
    <svg
      role="img"
      aria-label={label}
      width={WIDTH_PX}
      height={HEIGHT_PX}
      className="inline-block align-middle text-accent"
    >
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinejoin="round"
      />
    </svg>
  )
}
