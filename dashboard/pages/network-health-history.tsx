/** Small charts of the fold over the last day, from samples of the service. */
import { useQuery } from '@tanstack/react-query'
import { count, time } from '../format.ts'
import { type HealthSample, network } from '../network-api.ts'
import { Progress } from '../ui/notice.tsx'

/** Samples come every five minutes. */
const REFRESH_MS = 60_000

export function HealthHistory() {
  const history = useQuery({
    queryKey: ['network', 'health history'],
    queryFn: network.healthHistory,
    refetchInterval: REFRESH_MS,
  })
  const samples = history.data ?? []
  return (
    <div className="space-y-2">
      <h2>Last day</h2>
      <Progress query={history} />
      {history.data !== undefined && samples.length < 2 ? (
        <p className="panel p-4 text-sm text-soft">
          A worker takes a sample every five minutes. Charts appear after two samples.
        </p>
      ) : (
        <div className="grid gap-3 sm:grid-cols-3">
          <Spark name="Fold lag, seconds" samples={samples} of={(one) => one.lag_seconds} />
          <Spark name="Events waiting" samples={samples} of={(one) => one.events_waiting} />
          <Spark name="Nodes running" samples={samples} of={(one) => one.nodes_alive} />
        </div>
      )}
    </div>
  )
}

const [WIDTH, HEIGHT] = [240, 48]

function Spark(props: {
  name: string
  samples: readonly HealthSample[]
  of: (sample: HealthSample) => number
}) {
  const { name, samples, of } = props
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined) return null
  const values = samples.map(of)
  const top = Math.max(...values, 1)
  const fromMs = Date.parse(first.at)
  const spanMs = Date.parse(last.at) - fromMs || 1
  const points = samples.map((sample) => {
    const x = ((Date.parse(sample.at) - fromMs) / spanMs) * WIDTH
    return `${x.toFixed(1)},${(HEIGHT - (of(sample) / top) * HEIGHT).toFixed(1)}`
  })
  const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.ceil)
  const range = `from ${count(low ?? 0)} to ${count(high ?? 0)}`
  return (
    <figure className="panel px-4 py-3">
      <figcaption className="flex flex-wrap justify-between gap-x-3 text-sm">
        {name} <span className="number text-soft">{range}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`${name}, last day: ${range}`}
        viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
        className="mt-2 h-12 w-full text-accent"
      >
        <polyline
          points={points.join(' ')}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <p className="number flex justify-between text-xs text-soft">
        <span>{time(first.at)} UTC</span>
        <span>{time(last.at)} UTC</span>
      </p>
    </figure>
  )
}
