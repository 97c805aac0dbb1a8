/** Cards with a number, its name and a note. */
import type { ReactNode } from 'react'

export interface Sum {
  readonly name: string
  readonly value: ReactNode
  readonly note: string
  /** The background class of the dot that links the card to the chart. */
  readonly tone?: string
}

export function Sums({ sums }: { sums: readonly Sum[] }) {
  return (
    <dl className="flex flex-wrap gap-3">
      {sums.map(({ name, value, note, tone }) => (
        <div
          key={name}
          className="panel max-w-full grow basis-[calc(50%-0.375rem)] px-4 py-3 lg:basis-0"
        >
          <dt className="flex items-center gap-2 text-sm text-soft">
            {tone !== undefined && (
              <span
                aria-hidden="true"
                className={`size-2.5 shrink-0 rounded-full print:[print-color-adjust:exact] ${tone}`}
              />
            )}
            {name}
          </dt>
          <dd className="number text-lg font-semibold tracking-tight wrap-break-word *:text-xs sm:text-2xl sm:*:text-sm">
            {value}
          </dd>
          <dd className="text-xs text-soft">{note}</dd>
        </div>
      ))}
    </dl>
  )
}
