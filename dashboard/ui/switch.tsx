/** On or off, effective at once or with the form that contains it. */
import { Switch as Base } from '@base-ui/react/switch'

export function Switch(props: {
  label: string
  /** What the setting does. */
  note?: string
  isOn: boolean
  isDisabled?: boolean
  onChange: (isOn: boolean) => void
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the switch is a button with a hidden input.
    <label className="flex items-start gap-3 text-sm">
      <Base.Root
        checked={props.isOn}
        disabled={props.isDisabled === true}
        onCheckedChange={(isOn) => props.onChange(isOn)}
        className="mt-0.5 flex h-5 w-9 shrink-0 rounded-full border border-edge bg-sunk p-px transition-colors data-checked:border-accent data-checked:bg-accent data-disabled:opacity-60"
      >
        <Base.Thumb className="size-4 rounded-full bg-edge transition-[translate] data-checked:translate-x-4 data-checked:bg-on-accent" />
      </Base.Root>
      <span>
        {props.label}
        {props.note !== undefined && <span className="block text-soft">{props.note}</span>}
      </span>
    </label>
  )
}
