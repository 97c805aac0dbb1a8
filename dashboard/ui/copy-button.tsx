/** Copies a text and says so. */
import { useState } from 'react'

const SAID_MS = 2_000

export function CopyButton(props: { text: string; label: string; of?: string }) {
  const { text, label, of } = props
  const [said, setSaid] = useState<string | null>(null)
  const copy = async () => {
    setSaid((await copyText(text)) ? 'Copied' : 'Not copied')
    setTimeout(() => setSaid(null), SAID_MS)
  }
  return (
    <button type="button" className="button button-small" onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
      {/* Which of many, for those who hear a list of buttons. */}
      {of !== undefined && <span className="sr-only"> of {of}</span>}
    </button>
  )
}

/**
 * Browsers offer the clipboard on https and localhost only, and may refuse it there: then a
 * selection is copied. False: not even that.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'fixed opacity-0'
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  focused?.focus() // Selecting has moved it.
  return isCopied
}
