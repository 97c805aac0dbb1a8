/**
 * A real browser for the specs: Chromium from the machine, one per file, closed at its end.
 */
import { after } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { CHROMIUM, needProgram } from '../../test/machine.ts'

const FLAGS = [
  '--no-sandbox', // Tests may run as root.
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  // The browser's own errands would show up among the page's connections.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let browser: Promise<Browser> | null = null
after(async () => (await browser)?.close())

function openBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: needProgram(CHROMIUM), args: FLAGS })
  return browser
}

/** What went wrong inside a page, as it happened. */
export interface WatchedPage {
  readonly page: Page
  /** Uncaught exceptions and unhandled rejections: the tag must never cause one. */
  readonly errors: string[]
}

/** A page in a fresh profile; closed by the caller's test. */
export async function openPage(
  t: { after(fn: () => Promise<void>): void },
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await (await openBrowser()).newContext(options)
  t.after(() => context.close())
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  return { page, errors }
}
