/** The colour scheme that the user chose; without a choice, that of the system. */
import { useState, useSyncExternalStore } from 'react'

const KEY = 'souk scheme'
const SCHEMES = ['system', 'light', 'dark'] as const
export type Scheme = (typeof SCHEMES)[number]

/** Storage may be switched off in the browser. */
function stored(): Scheme {
  try {
    return SCHEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system'
  }
}

/** Applies the stored choice. CSS does the rest: every colour is a `light-dark()`. */
export function applyScheme(scheme: Scheme = stored()): void {
  const { dataset } = document.documentElement
  if (scheme === 'system') delete dataset.scheme
  else dataset.scheme = scheme
}

export function useChosenScheme(): readonly [Scheme, (scheme: Scheme) => void] {
  const [scheme, setScheme] = useState(stored)
  const choose = (next: Scheme) => {
    try {
      localStorage.setItem(KEY, next)
    } catch {
      // The choice then lasts until the page is closed.
    }
    applyScheme(next)
    setScheme(next)
  }
  return [scheme, choose]
}

const DARK = '(prefers-color-scheme: dark)'

/** Whether the page is dark now, for what CSS cannot colour. */
export function useIsDark(): boolean {
  return useSyncExternalStore(watchScheme, () => {
    const { scheme } = document.documentElement.dataset
    return scheme === undefined ? matchMedia(DARK).matches : scheme === 'dark'
  })
}

function watchScheme(onChange: () => void): () => void {
  const system = matchMedia(DARK)
  system.addEventListener('change', onChange)
  const choice = new MutationObserver(onChange)
  choice.observe(document.documentElement, { attributeFilter: ['data-scheme'] })
  return () => {
    system.removeEventListener('change', onChange)
    choice.disconnect()
  }
}
