/**
 * Pages of a real browser for the specs: the machine's Chromium.
 */
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from 'playwright-core'
import { launchOptions } from './browser-server.ts'

let browser: Promise<Browser> | null = null
after(async () => (await browser)?.close())

/** The browser that `npm test` shares among its processes; in a single file's run, its own. */
function openBrowser(): Promise<Browser> {
  const shared = process.env.SOUK_TEST_BROWSER
  browser ??= shared === undefined ? chromium.launch(launchOptions()) : chromium.connect(shared)
  return browser
}

export interface WatchedPage {
  readonly page: Page
  /** Uncaught exceptions and unhandled rejections: the tag must never cause one. */
  readonly errors: string[]
  /** Addresses of everything the page asked for, in the order it did. */
  readonly requests: string[]
  /** Resolves once nothing is asked for any more. */
  quiet(): Promise<void>
}

/** The tag gathers changes of the page for 200 ms and views for a second. */
const QUIET_MS = 700
/** By the page's own clock. */
const SETTLE_MS = 100
const TIMEOUT_MS = 30_000

/** Waits by the page's own clock: where a busy machine holds the page up, this waits with it. */
export async function passTime(page: Page, ms: number): Promise<void> {
  await page.evaluate((wait) => new Promise((done) => setTimeout(done, wait)), ms)
}

/** A page in a fresh profile; closed at the end of the test. */
export async function openPage(
  t: { after(fn: () => Promise<void>): void },
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await (await openBrowser()).newContext(options)
  t.after(() => context.close())
  const page = await context.newPage()
  const errors: string[] = []
  const requests: string[] = []
  const open = new Set<Request>()
  let lastMs = Date.now()
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('request', (request) => {
    requests.push(request.url())
    open.add(request)
    lastMs = Date.now()
  })
  const end = (request: Request): void => {
    open.delete(request)
    lastMs = Date.now()
  }
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return {
    page,
    errors,
    requests,
    async quiet() {
      const deadline = Date.now() + TIMEOUT_MS
      let asked = -1
      lastMs = Date.now()
      while (asked !== requests.length) {
        while (open.size > 0 || Date.now() - lastMs < QUIET_MS) {
          if (Date.now() > deadline) throw new Error(`still open: ${[...open].map((r) => r.url())}`)
          await sleep(50)
        }
        asked = requests.length
        // On a busy machine the page itself may not have come to its answers yet: it says when.
        await passTime(page, SETTLE_MS)
      }
    },
  }
}
