/** A row of buttons of which one is selected. */
export function Choice<T extends string>(props: {
  label: string
  options: readonly { readonly value: T; readonly label: string }[]
  value: T | null
  onChange: (value: T) => void
}) {
  return (
    <fieldset className="inline-flex max-w-full min-w-0 flex-wrap rounded-lg border border-line bg-panel p-0.5">
      <legend className="sr-only">{props.label}</legend>
      {props.options.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.value}
          className="h-8 rounded-md px-3 text-[0.8125rem] font-medium whitespace-nowrap text-soft hover:text-ink aria-pressed:bg-tint aria-pressed:text-accent"
          onClick={() => props.onChange(value)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}
