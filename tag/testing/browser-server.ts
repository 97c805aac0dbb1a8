/** Chromium as the specs use it. */
import { type BrowserServer, chromium, type LaunchOptions } from 'playwright-core'
import { WITHOUT_FEATURES } from '../../src/check-page/browser-features.ts'
import { CHROMIUM, needProgram } from '../../test/support/programs.ts'

/**
 * A reader's user agent, because the service records a headless browser as a robot. For the whole
 * browser, because a page's own override does not apply to the requests that it sends on its way
 * out.
 */
const READER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0 Safari/537.36'

const FLAGS = [
  `--user-agent=${READER}`,
  '--no-sandbox', // Tests may run as root.
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  // The browser's own errands would show up among the page's connections.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  WITHOUT_FEATURES,
]

/** Throws, with the command that installs it, where the machine has no Chromium. */
export function launchOptions(): LaunchOptions {
  return {
    executablePath: needProgram(CHROMIUM),
    args: FLAGS,
    // Readers' browsers have it; the driver turns it off by default.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  }
}

/** One browser for all specs of a run; each test opens its own profile in it. */
export function serveBrowser(): Promise<BrowserServer> {
  return chromium.launchServer({ ...launchOptions(), host: '127.0.0.1' })
}
