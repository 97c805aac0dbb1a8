/** Follows the colour scheme that the user chose in the dashboard. */
import { readStored } from './storage.ts'

export function applyChosenScheme(): void {
  const scheme = readStored('souk scheme')
  if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme
}
