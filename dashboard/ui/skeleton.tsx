/** Grey shapes of what loads, so that the page does not jump when it arrives. */
export function TableSkeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="panel waiting divide-y divide-line">
      {Array.from({ length: rows }, (_, at) => at).map((at) => (
        <div key={at} className="flex h-[34px] items-center gap-6 px-3">
          <span className="h-3 w-2/5 rounded bg-sunk" />
          <span className="h-3 grow rounded bg-sunk" />
          <span className="h-3 w-1/6 rounded bg-sunk" />
        </div>
      ))}
    </div>
  )
}

export function CardsSkeleton({ cards = 4 }: { cards?: number }) {
  return (
    <div role="status" aria-label="Loading" className="waiting flex flex-wrap gap-3">
      {Array.from({ length: cards }, (_, at) => at).map((at) => (
        <div key={at} className="panel h-24 min-w-40 grow space-y-3 p-4">
          <span className="block h-3 w-1/3 rounded bg-sunk" />
          <span className="block h-6 w-1/2 rounded bg-sunk" />
        </div>
      ))}
    </div>
  )
}
