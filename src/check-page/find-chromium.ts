/** Where systems install Chromium or a browser based on it. Found, never downloaded. */

import { existsSync } from 'node:fs'
import { Refusal } from '../platform/errors/refusal.ts'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The browser's path; null if there is none. */
export function locateChromium(): string | null {
  return PLACES.find(existsSync) ?? null
}

/** The same; if there is none, throws an error that names the fix. */
export function findChromium(): string {
  const found = locateChromium()
  if (found !== null) return found
  throw new Refusal(
    'no Chromium here: install it (apt-get install chromium) or give --chromium PATH',
  )
}
