/** Cards of figures with their change; one of them is drawn in the chart. */
import { changeOf, type Total } from '../figures.ts'

export interface Card<Id extends string> {
  readonly id: Id
  readonly label: string
  readonly text: string
  readonly total: Total
  readonly note?: string
}

export function FigureCards<Id extends string>(props: {
  cards: readonly Card<Id>[]
  chosen: Id
  onChoose: (id: Id) => void
}) {
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
      {props.cards.map(({ id, label, text, total, note }) => (
        <button
          key={id}
          type="button"
          aria-pressed={id === props.chosen}
          onClick={() => props.onChoose(id)}
          className="panel flex min-w-0 flex-col px-4 py-3 text-left hover:border-soft aria-pressed:border-accent aria-pressed:shadow-[inset_0_-3px_0] aria-pressed:shadow-accent"
        >
          <span className="text-sm text-soft">{label}</span>
          <span className="number text-xl font-semibold tracking-tight wrap-anywhere">{text}</span>
          <span className="number mt-0.5 text-xs text-soft">
            <Change total={total} /> {note}
          </span>
        </button>
      ))}
    </div>
  )
}

/** Up or down in words and sign, not by colour alone. */
export function Change({ total }: { total: Total }) {
  const change = changeOf(total)
  if (change === null) return null
  return <span className={change.isUp ? 'text-accent' : 'text-bad'}>{change.text}</span>
}
