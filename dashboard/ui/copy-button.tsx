/** Copies a text and says so. */
import { useState } from 'react'

const SAID_MS = 2_000

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await copyText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), SAID_MS)
  }
  return (
    <button type="button" className="button button-small" onClick={copy}>
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </button>
  )
}

/** Browsers offer the clipboard on https and localhost only; elsewhere a selection is copied. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'fixed opacity-0'
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
