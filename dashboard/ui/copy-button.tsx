/** Copies a text to the clipboard and confirms it. */
import { useState } from 'react'

const SAID_MS = 2_000

export function CopyButton(props: { text: string; label: string; of?: string }) {
  const { text, label, of } = props
  const [said, setSaid] = useState<string | null>(null)
  const copy = async () => {
    setSaid((await copyText(text)) ? 'Copied' : 'Copying failed')
    setTimeout(() => setSaid(null), SAID_MS)
  }
  return (
    <button type="button" className="button button-small" onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
      {/* Names the text that the button copies, for screen readers. */}
      {of !== undefined && <span className="sr-only"> of {of}</span>}
    </button>
  )
}

/**
 * The clipboard API exists only on https and localhost, and may be refused. Falls back to copying a
 * selection. Returns false if that fails too.
 */
export async function copyText(text: string): Promise<boolean> {
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
  focused?.focus() // Selecting the text moved the focus.
  return isCopied
}
