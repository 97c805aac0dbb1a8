/** A few numbers side by side, each with its name and what it means. */
import type { ReactNode } from 'react'

export interface Sum {
  readonly name: string
  readonly value: ReactNode
  readonly note: string
  /** The ground of the dot that stands for it in a picture. */
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
