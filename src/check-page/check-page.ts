/**
 * `souk check-page URL`: what the page tag would do on this page, link by link.
 *
 * Loads the page in Chromium as a reader's browser would. If the page has no tag yet, the check
 * inserts it. Nothing counts as a reader's visit: the check answers events, pixels and third-party
 * trackers itself. Auctions do run, and LinkMate creates the smart links that the first reader's
 * visit would create.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type {
  APIResponse,
  Browser,
  BrowserContext,
  JSHandle,
  Page,
  Response,
  Route,
} from 'playwright-core'
import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { type BrowserOptions, openBrowser } from './open-browser.ts'
import type { DebugTools, LinkReport, PageReport } from './page-report.ts'

export interface CheckPageOptions extends BrowserOptions {
  readonly url: string
  /** The URL of this service; its tag is used if the page has none. */
  readonly baseUrl: string
  /**
   * The expected publisher. A tag on the page names its own, and the result reports a difference.
   */
  readonly publisher: string | null
  /** Throws if the page that was loaded may not be checked: redirects lead anywhere. */
  readonly mayCheck?: (url: string) => void
  /** Takes the picture of the page with outlined links; the result shows where it is. */
  readonly photograph?: (page: Page) => Promise<string | null>
  /**
   * What a click on this redirect URL would earn the publisher, as `earns` below; null if unknown.
   * The price is sealed, so only the service can open it.
   */
  readonly earningsOf: (redirectUrl: string) => string | null
}

export interface CheckedLink extends LinkReport {
  /** US dollars per click, a decimal string; null if nothing or unknown. */
  readonly earns: string | null
}

export interface CheckPageResult {
  readonly url: string
  readonly publisher: string
  /** `on_page`: the page carries the tag; `inserted`: this check inserted it. */
  readonly tag: 'on_page' | 'inserted'
  readonly service: string
  readonly blocked: readonly string[]
  readonly other_tags: readonly string[]
  readonly consent: string | null
  readonly consent_source: string | null
  readonly is_member: boolean | null
  readonly links: readonly CheckedLink[]
  readonly totals: { readonly links: number } & Record<LinkReport['status'], number>
  readonly trackers: number
  readonly page_errors: readonly string[]
  readonly screenshot: string | null
}

/** A page that takes longer to load would have lost its readers. */
const LOAD_MS = 30_000
/** The tag's time to finish; it ends its own requests after 8 seconds. */
const SETTLE_MS = 30_000
/** After this long without requests the tag is done. */
const QUIET_MS = 1_500
const POLL_MS = 100
const VIEWPORT = { width: 1280, height: 900 }

/** Checks one page. Throws 400 if it cannot be loaded or no publisher is known. */
export async function checkPage(options: CheckPageOptions): Promise<CheckPageResult> {
  await using opened = await openBrowser(options)
  const visit = await visitPage(opened.browser, options)
  const policy = await visitUnderPolicy(opened.browser, options, visit)
  return await describe(options, visit, policy)
}

interface Visit {
  readonly page: Page
  readonly debug: JSHandle<DebugTools>
  /** The HTTP status of the page; null if it has none, such as a file. */
  readonly status: number | null
  readonly publisher: string
  readonly tag: CheckPageResult['tag']
  readonly service: string
  readonly report: PageReport | null
  readonly errors: readonly string[]
  readonly trackers: number
  readonly auctionUrl: string
}

/** Loads the page without its security policy, lets the tag finish, and reads its report. */
async function visitPage(browser: Browser, options: CheckPageOptions): Promise<Visit> {
  const context = await openContext(browser, { bypassCSP: true })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  const traffic = watchTraffic(page)
  const counts = await answerEvents(page)
  const status = (await load(page, options.url))?.status() ?? null
  options.mayCheck?.(page.url())
  const found = await findTag(page)
  const publisher = found?.publisher ?? options.publisher
  if (publisher === null) {
    throw badRequest([missingPublisher(status)])
  }
  const service = found?.service ?? options.baseUrl
  if (found === null) await insertTag(page, options, publisher)
  await traffic.quiet()
  const debug = await openDebug(page)
  const report = await debug.evaluate((souk) => souk.report())
  return {
    page,
    debug,
    status,
    publisher,
    tag: found === null ? 'inserted' : 'on_page',
    service,
    report,
    errors,
    trackers: counts.trackers.size,
    auctionUrl: counts.auctionUrl ?? service,
  }
}

/** An error page carries no tag, so the error names the URL instead. */
function missingPublisher(status: number | null): Fault {
  const doubt = doubtAddress(status)
  if (doubt !== null) return { field: 'url', rule: doubt }
  const rule = 'must be given: the page has no tag that says whose it is'
  return { field: '--publisher', rule }
}

/** Loads the page again with its own policy and collects what the browser blocks. */
async function visitUnderPolicy(
  browser: Browser,
  options: CheckPageOptions,
  { service, auctionUrl }: Visit,
): Promise<string[]> {
  const context = await openContext(browser, { bypassCSP: false })
  const page = await context.newPage()
  await answerEvents(page)
  await load(page, options.url)
  const debug = await openDebug(page)
  return await debug.evaluate((souk, [base, auction]) => souk.probe(base, auction), [
    service,
    auctionUrl,
  ] as const)
}

/** Held by a handle from the same task on, because a page may replace `souk` at any time. */
async function openDebug(page: Page): Promise<JSHandle<DebugTools>> {
  const script = await readTag('souk-debug.js')
  return (await page.evaluateHandle(`${script}\n;window.souk`)) as JSHandle<DebugTools>
}

async function openContext(
  browser: Browser,
  { bypassCSP }: { bypassCSP: boolean },
): Promise<BrowserContext> {
  const major = browser.version().split('.')[0]
  // A reader's user agent: the service and some pages treat declared robots differently.
  const userAgent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ' +
    `Chrome/${major}.0.0.0 Safari/537.36`
  return browser.newContext({ bypassCSP, userAgent, viewport: VIEWPORT })
}

async function load(page: Page, url: string): Promise<Response | null> {
  try {
    return await page.goto(url, { waitUntil: 'load', timeout: LOAD_MS })
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0]
    throw badRequest([{ field: 'url', rule: `must load; ${reason}` }])
  }
}

interface FoundTag {
  readonly publisher: string | undefined
  readonly service: string
}

/** The tag on the page, found by its script element or by its global. */
async function findTag(page: Page): Promise<FoundTag | null> {
  const found = (await page.evaluate(`(() => {
    const script = document.querySelector('script[src*="/tag/souk"]:not([src*="merchant"])')
    const publisher = script?.dataset.publisher || window.souk?.publisher
    return script && { src: script.src, publisher }
  })()`)) as { src: string; publisher?: string } | null
  if (found === null) return null
  return { publisher: found.publisher, service: found.src.split('/tag/souk')[0] as string }
}

/**
 * Runs the tag as if the page carried it: an element that no browser executes names the publisher.
 */
async function insertTag(page: Page, options: CheckPageOptions, publisher: string): Promise<void> {
  const src = JSON.stringify(`${options.baseUrl}/tag/souk.js`)
  await page.evaluate(`(() => {
    const script = document.createElement('script')
    script.type = 'text/plain'
    script.src = ${src}
    script.dataset.publisher = ${JSON.stringify(publisher)}
    document.head.append(script)
  })()`)
  await page.evaluate(await readTag('souk.js'))
}

const TAG_FOLDER = fileURLToPath(new URL('../../dist/tag/', import.meta.url))

async function readTag(name: string): Promise<string> {
  try {
    return await readFile(join(TAG_FOLDER, name), 'utf8')
  } catch {
    throw new Refusal(`${join(TAG_FOLDER, name)} is not there: build the tags with npm run build`)
  }
}

const CORS = { 'access-control-allow-origin': '*' }

interface Counts {
  /** Each once per event and page, as the tag fires them. */
  readonly trackers: Set<string>
  auctionUrl: string | null
}

/** Keeps everything that would count as a reader's visit inside the browser. */
async function answerEvents(page: Page): Promise<Counts> {
  const counts: Counts = { trackers: new Set(), auctionUrl: null }
  await page.route(/\/api\/v1\/events\//, (route) => route.fulfill({ status: 201, headers: CORS }))
  await page.route(/\/api\/v1\/pixel\//, (route) => route.fulfill({ status: 204 }))
  await page.route(/\/api\/v1\/auction\/\?/, (route) => answerAuction(route, counts))
  return counts
}

/** The auction is real; its third-party trackers are counted and removed. */
async function answerAuction(route: Route, counts: Counts): Promise<void> {
  counts.auctionUrl ??= route
    .request()
    .url()
    .replace(/\/api\/v1\/auction\/.*$/s, '')
  try {
    const response = await route.fetch({ maxRedirects: 0 })
    if (!mayRead(route, response)) return await route.abort()
    const body = (await response.json()) as {
      data?: { auction_result?: { tracker_urls?: Record<string, unknown[]> } }[]
    }
    for (const { auction_result } of body.data ?? []) {
      for (const [event, urls] of Object.entries(auction_result?.tracker_urls ?? {})) {
        for (const url of urls) counts.trackers.add(`${event} ${url}`)
      }
      if (auction_result !== undefined) delete auction_result.tracker_urls
    }
    await route.fulfill({ response, json: body })
  } catch {
    await route.abort().catch(() => undefined) // The page or the service is gone.
  }
}

/**
 * Whether the response allows this page to read it. The driver lets a page read every response that
 * it fulfils, and a page may name any host of the operator's network in a URL that ends like an
 * auction's.
 */
function mayRead(route: Route, response: APIResponse): boolean {
  const { origin } = route.request().headers() // Missing if the page calls its own host.
  const allowed = response.headers()['access-control-allow-origin']
  return origin === undefined || allowed === origin || allowed === '*'
}

/** Observes every request of a page; `quiet` resolves once the tag's own requests are done. */
function watchTraffic(page: Page): { quiet(): Promise<void> } {
  const open = new Set<unknown>()
  let lastMs = Date.now()
  const isOurs = (url: string) => /\/api\/v\d\//.test(url)
  page.on('request', (request) => {
    if (!isOurs(request.url())) return
    open.add(request)
    lastMs = Date.now()
  })
  const end = (request: unknown): void => {
    if (open.delete(request)) lastMs = Date.now()
  }
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return {
    async quiet() {
      const deadline = Date.now() + SETTLE_MS
      while (Date.now() < deadline && (open.size > 0 || Date.now() - lastMs < QUIET_MS)) {
        await page.waitForTimeout(POLL_MS)
      }
    },
  }
}

async function describe(
  options: CheckPageOptions,
  visit: Visit,
  forbidden: readonly string[],
): Promise<CheckPageResult> {
  const { page, debug, report } = visit
  const links = (report?.links ?? []).map((link) => withEarnings(link, options))
  let screenshot: string | null = null
  if (options.photograph !== undefined) {
    await debug.evaluate((souk) => souk.outline())
    screenshot = await options.photograph(page)
  }
  const count = (status: LinkReport['status']) =>
    links.filter((link) => link.status === status).length
  return {
    url: options.url,
    publisher: visit.publisher,
    tag: visit.tag,
    service: visit.service,
    blocked: [...otherPublisher(visit, options), ...blockers(visit, forbidden)],
    other_tags: report?.other_tags ?? [],
    consent: report?.consent ?? null,
    consent_source: report?.consent_source ?? null,
    is_member: report?.is_member ?? null,
    links,
    totals: {
      links: links.length,
      auctioned: count('auctioned'),
      waiting: count('waiting'),
      left: count('left'),
    },
    trackers: visit.trackers,
    page_errors: visit.errors,
    screenshot,
  }
}

/**
 * Writes the whole page as a PNG. Only the operator may read it, because a page may show
 * unpublished content. An existing file is replaced, never followed: it may be another user's
 * symbolic link.
 */
export const photographTo =
  (path: string) =>
  async (page: Page): Promise<string> => {
    const bytes = await page.screenshot({ fullPage: true })
    await rm(path, { force: true })
    await writeFile(path, bytes, { mode: 0o600, flag: 'wx' })
    return path
  }

function withEarnings(link: LinkReport, { earningsOf }: CheckPageOptions): CheckedLink {
  const address = link.redirect_url
  return { ...link, earns: address === null ? null : earningsOf(address) }
}

/** The tag on a page earns for the publisher that it names, not for the expected one. */
function otherPublisher({ publisher: named }: Visit, { publisher: meant }: CheckPageOptions) {
  if (meant === null || named.toLowerCase() === meant.toLowerCase()) return []
  return [
    `The tag on the page earns for publisher ${named}, not for ${meant}: ` +
      `write data-publisher="${meant}" into it.`,
  ]
}

/** From this status on, the response is not the publisher's page. */
const FIRST_FAILURE = 400

function doubtAddress(status: number | null): string | null {
  if (status === null || status < FIRST_FAILURE) return null
  return `is answered with ${status}: is the URL right?`
}

/** What keeps the tag from earning here, each with the line that fixes it. */
function blockers({ status, report, service }: Visit, policy: readonly string[]): string[] {
  const doubt = doubtAddress(status)
  const page = doubt === null ? [] : [`The page ${doubt}`]
  if (report !== null) return [...page, ...policy, ...report.blocked]
  return [
    ...page,
    ...policy,
    `The tag got no answer from ${service}: is the slug right, the service up?`,
  ]
}
