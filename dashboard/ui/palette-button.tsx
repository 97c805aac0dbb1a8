/** Opens the command palette, also by Ctrl-K (⌘K). Its program loads on first use. */
import { lazy, Suspense, useEffect, useState } from 'react'
import { Icon } from './icon.tsx'

const load = async () => ({ default: (await import('./command-palette.tsx')).CommandPalette })
const CommandPalette = lazy(load)

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

export function PaletteButton() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <button
        type="button"
        aria-keyshortcuts="Control+K Meta+K"
        className="button button-small text-soft print:hidden"
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        onClick={() => setOpen(true)}
      >
        <Icon name="search" size={14} />
        <span className="max-sm:sr-only">Search</span>
        <span aria-hidden="true" className="hidden text-xs sm:inline">
          {isApple ? '⌘K' : 'Ctrl K'}
        </span>
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <CommandPalette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
