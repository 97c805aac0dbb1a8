/** A number in a range, by pointer or arrow keys; its value stands beside the label. */
import { Slider as Base } from '@base-ui/react/slider'

export function Slider(props: {
  label: string
  min: number
  max: number
  step: number
  value: number
  format: (value: number) => string
  onChange: (value: number) => void
  /** Called when the pointer lets go: the moment for a call. */
  onCommit?: (value: number) => void
}) {
  const { label, value, format, onChange, onCommit, ...limits } = props
  return (
    <Base.Root
      {...limits}
      value={value}
      onValueChange={(next) => onChange(Number(next))}
      onValueCommitted={(next) => onCommit?.(Number(next))}
      className="grid w-full grid-cols-[1fr_auto] gap-y-1 text-sm"
    >
      <Base.Label className="font-medium">{label}</Base.Label>
      <Base.Value className="number text-soft">{() => format(value)}</Base.Value>
      <Base.Control className="col-span-2 flex h-6 touch-none items-center">
        <Base.Track className="h-1.5 w-full rounded-full bg-line">
          <Base.Indicator className="rounded-full bg-accent" />
          <Base.Thumb
            getAriaValueText={(_text, next) => format(next)}
            className="size-4 rounded-full border-2 border-accent bg-panel has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          />
        </Base.Track>
      </Base.Control>
    </Base.Root>
  )
}
