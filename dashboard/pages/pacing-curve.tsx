/** How a daily budget is spent over the hours of a day: along the traffic of the network. */
import { useQuery } from '@tanstack/react-query'
import { cents } from '../format.ts'
import { merchantApi } from '../merchant-api.ts'

const WIDTH = 240
const HEIGHT = 48
const BAR = WIDTH / 24

export function PacingCurve({ merchId, budget }: { merchId: number; budget: string }) {
  const { data } = useQuery({
    queryKey: ['traffic curve', merchId],
    queryFn: () => merchantApi.trafficCurve(merchId),
    staleTime: Infinity,
  })
  if (data === undefined) return null
  const { hours } = data
  const most = Math.max(...hours)
  const words = describe(hours, Number(budget))
  return (
    <figure className="rounded-lg bg-sunk px-3 py-2">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={words}
        className="h-16 w-full max-w-md fill-accent"
        preserveAspectRatio="none"
      >
        {hours.map((part, hour) => {
          const height = (part / most) * HEIGHT
          return (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: the hours of a day are fixed.
              key={hour}
              x={hour * BAR + 1}
              y={HEIGHT - height}
              width={BAR - 2}
              height={height}
            />
          )
        })}
      </svg>
      <div aria-hidden="true" className="number flex max-w-md justify-between text-xs text-soft">
        {['00:00', '06:00', '12:00', '18:00', '24:00'].map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </div>
      <figcaption className="mt-1 text-sm text-soft">{words}</figcaption>
    </figure>
  )
}

function describe(hours: readonly number[], budget: number): string {
  const most = Math.max(...hours)
  if (most - Math.min(...hours) < 0.001) {
    return 'The budget is spread evenly over the day. It follows the readers once there are clicks.'
  }
  const busiest = hours.indexOf(most)
  const before = (end: number) => hours.slice(0, end).reduce((sum, part) => sum + part, 0)
  const half = hours.findIndex((_part, hour) => before(hour + 1) >= 0.5)
  const amount = budget > 0 ? `, about ${cents(String(budget * most))} of it` : ''
  return (
    `The budget is spread over the day as readers come (UTC): half of it by ${clock(half + 1)}, ` +
    `most at ${clock(busiest)}${amount}.`
  )
}

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`
