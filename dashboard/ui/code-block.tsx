/** Code to copy or read. It scrolls, so the keyboard can reach it. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
    <section tabIndex={0} aria-label={label} className="code max-h-80 overflow-auto">
      <code>{text}</code>
    </section>
  )
}
