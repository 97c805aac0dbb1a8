/**
 * Runs the checks that wait, one after the other, each in a browser of its own that is confined to
 * public addresses. Pages are untrusted, and so is everything they report.
 */
import type { Page } from 'playwright-core'
import { Sealer } from '../auction/seal.ts'
import type { SealingKey } from '../node/config.ts'
import { ApiError, badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { formatError } from '../platform/errors/format-error.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { PrivateAddressError } from '../platform/net/fetch-guard.ts'
import { type GuardedProxy, openGuardedProxy } from '../platform/net/guarded-proxy.ts'
import { parseWebUrl, unicodeHost } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { checkPage } from './check-page.ts'
import { earningsUnder } from './earnings.ts'
import { locateChromium } from './find-chromium.ts'
import { toTagCheckResult } from './tag-check.ts'
import { isOwnPage } from './tag-check-operations.ts'
import {
  failInterrupted,
  finishTagCheck,
  type TagCheckEnd,
  type TakenCheck,
  takeTagCheck,
} from './tag-check-store.ts'

export interface TagCheckWork {
  readonly db: Db
  /** The URL of this service; its tag is used if the page has none. */
  readonly baseUrl: string
  readonly brand: string
  readonly keys: readonly SealingKey[]
  /** Whether pages may reach this machine's network, as in the demo. */
  readonly allowPrivate: boolean
  /** Only tests shorten it, name a browser, or run as root (Confinement). */
  readonly limitMs?: number
  readonly chromium?: string | null
  readonly isSandboxOff?: boolean
}

/** Two visits of a page: each loads within 30 seconds and is quiet 30 seconds later. */
const LIMIT_MS = 120_000
/** Ten screens; a longer page is cut. */
const PICTURE_PIXELS_MAX = 9_000
/** A stored picture; a larger one is left out. */
const PICTURE_BYTES_MAX = 2 * 1024 ** 2
const JPEG_QUALITY = 70

const NO_BROWSER =
  'This service has no Chromium, which opens the page. Its operator can install it on the ' +
  'machine of the worker.'
const NO_START = 'The browser of this service does not start. Its operator finds why in the log.'
const BROKEN = 'The check ended without a result. Try again; a page may disturb it by its scripts.'
const INTERRUPTED = 'The service stopped during the check. Try again.'

/** Returns faults for the operator's log. */
export async function runTagChecks(work: TagCheckWork): Promise<string[]> {
  const faults: string[] = []
  await failInterrupted(work.db, INTERRUPTED)
  for (;;) {
    const check = await takeTagCheck(work.db)
    if (check === null) return faults
    const end = await runTagCheck(work, check, (fault) => faults.push(fault))
    await finishTagCheck(work.db, check, end)
  }
}

async function runTagCheck(
  work: TagCheckWork,
  check: TakenCheck,
  report: (fault: string) => void,
): Promise<TagCheckEnd> {
  const { chromium = locateChromium(), limitMs = LIMIT_MS, allowPrivate } = work
  if (chromium === null) return { error: NO_BROWSER }
  const signal = AbortSignal.timeout(limitMs)
  // Where the network may be reached anyway, the browser resolves `*.localhost` itself.
  await using proxy = allowPrivate ? null : await openGuardedProxy({ allowPrivate })
  try {
    return await visit(work, check, { chromium, signal, proxy })
  } catch (error) {
    if (signal.aborted) return { error: `The check took longer than ${limitMs / 1_000} seconds.` }
    if (error instanceof Refusal) {
      report(error.message)
      return { error: NO_START }
    }
    if (error instanceof ApiError) return { error: refusedWords(error, check.url, proxy) }
    report(formatError(error))
    return { error: BROKEN }
  }
}

async function visit(
  { keys, baseUrl, brand, isSandboxOff = false }: TagCheckWork,
  { url, slug, pub_id: pubId, domains }: TakenCheck,
  {
    chromium,
    signal,
    proxy,
  }: { chromium: string; signal: AbortSignal; proxy: GuardedProxy | null },
): Promise<TagCheckEnd> {
  let screenshot: Buffer | null = null
  const result = await checkPage({
    ...{ url, baseUrl, publisher: slug, chromium, signal },
    ...(proxy === null ? {} : { confinement: { proxyUrl: proxy.url, isSandboxOff } }),
    earningsOf: earningsUnder(new Sealer(keys), { brand, pubId }),
    mayCheck: (loaded) => {
      const page = parseWebUrl(loaded)
      if (page !== null && isOwnPage(page, domains)) return
      const host = page === null ? 'another page' : unicodeHost(page.hostname)
      throw badRequest([{ field: 'url', rule: `leads to ${host}, not to a domain of yours` }])
    },
    photograph: async (page) => {
      screenshot = await photograph(page)
      return null
    },
  })
  return { result: toTagCheckResult(result), screenshot }
}

async function photograph(page: Page): Promise<Buffer | null> {
  const { width } = page.viewportSize() ?? { width: 0 }
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
  const isLong = !(height <= PICTURE_PIXELS_MAX)
  if (isLong) await page.setViewportSize({ width, height: PICTURE_PIXELS_MAX })
  const type = { type: 'jpeg', quality: JPEG_QUALITY } as const
  const picture = await page.screenshot({ ...type, fullPage: !isLong })
  return picture.length > PICTURE_BYTES_MAX ? null : picture
}

/** Why the page was not checked, for its publisher. */
function refusedWords({ data }: ApiError, url: string, proxy: GuardedProxy | null): string {
  const host = URL.parse(url)?.hostname ?? ''
  const failure = proxy?.failures.get(host)
  const [fault] = (data ?? []) as readonly Fault[]
  if (fault === undefined) return BROKEN
  const { rule } = fault
  if (!rule.startsWith('must load')) return `The URL ${rule}.`
  if (failure !== undefined) return unreachedWords(host, failure)
  const code = /net::ERR_[A-Z_]+/.exec(rule)?.[0]
  if (code !== undefined) return `The page does not load (${code}): is the URL right?`
  return 'The page does not load within 30 seconds.'
}

function unreachedWords(host: string, error: Error): string {
  const name = unicodeHost(host)
  if (error instanceof PrivateAddressError) {
    return `${name} has no public address, so this service does not open it.`
  }
  const code = 'code' in error ? ` (${String(error.code)})` : ''
  return `${name} does not answer${code}: is the URL right?`
}
