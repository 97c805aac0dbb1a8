/**
 * Checks once a day whether the pages of earning links are there.
 *
 * Polite: one request a second per host, robots.txt honoured (RFC 9309), HEAD before GET. Each
 * request and each redirect goes through the fetch guard of the agent.
 */
import robotsModule from 'robots-parser'
import type { Dispatcher } from 'undici'
import { PrivateAddressError } from '../platform/net/fetch-guard.ts'
import { parseWebUrl, trimUrl } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { afterCheck, type Verdict, verdictOf } from './page-check.ts'
import { chooseChecks, type DuePage, listDuePages, saveCheck } from './page-check-store.ts'
import { unwrapUrl } from './unwrap.ts'

/** What is used of the parser; its own types describe another kind of module than it is. */
interface Robots {
  isAllowed(url: string, userAgent?: string): boolean | undefined
  getCrawlDelay(userAgent?: string): number | undefined
}
const parseRobots = robotsModule as unknown as (url: string, text: string) => Robots

const USER_AGENT = 'souk-link-check'
const EACH_HOST_MS = 1_000
/** A longer crawl delay would keep a host's pages from being checked within a day. */
const CRAWL_DELAY_MS_MAX = 30_000
const ANSWER_MS = 15_000
const REDIRECTS_MAX = 5
/** Google reads as much of a robots.txt. */
const ROBOTS_BYTES_MAX = 500 * 1024
const HOSTS_AT_ONCE = 32
const PAGES_PER_RUN = 5_000
/** After this time a run starts no more checks; the rest is due in the next. */
const RUN_MS = 5 * 60_000

export interface CheckOptions {
  readonly db: Db
  readonly agent: Dispatcher
  readonly now: () => Date
  readonly sleep: (ms: number) => Promise<unknown>
}

/** Checks the pages that are due; returns how many it checked. */
export async function checkPages(options: CheckOptions): Promise<number> {
  const startedAt = options.now()
  await chooseChecks(options.db, startedAt)
  const due = await listDuePages(options.db, { now: startedAt, limit: PAGES_PER_RUN })
  const hosts = [...Map.groupBy(due, (page) => parseWebUrl(pageOf(page))?.host ?? '').values()]
  const visit = new Visitor(options)
  let checked = 0
  const work = async () => {
    for (let pages = hosts.pop(); pages !== undefined; pages = hosts.pop()) {
      for (const page of pages) {
        if (options.now().getTime() - startedAt.getTime() > RUN_MS) return
        const before = { failedAt: page.failed_at, deadSince: page.dead_since }
        const verdict = await visit.check(pageOf(page))
        const at = options.now()
        const { url_hash: urlHash } = page
        await saveCheck(options.db, { ...afterCheck(before, verdict, at), urlHash, at })
        checked += 1
      }
    }
  }
  await Promise.all(Array.from({ length: HOSTS_AT_ONCE }, work))
  return checked
}

/** The shop's page, without another network's wrapper: a check must not count as a click there. */
function pageOf({ url }: DuePage): string {
  const page = trimUrl(url)
  return unwrapUrl(page) ?? page
}

type Rules = { readonly robots: Robots } | { readonly verdict: Verdict }

/** Visits pages of one run: knows each host's rules, and when it was last asked. */
class Visitor {
  readonly #options: CheckOptions
  readonly #rules = new Map<string, Promise<Rules>>()
  readonly #nextMs = new Map<string, number>() // by host
  readonly #delayMs = new Map<string, number>() // by host

  constructor(options: CheckOptions) {
    this.#options = options
  }

  async check(url: string): Promise<Verdict> {
    const head = await this.#follow('HEAD', url)
    if (head.kind === 'there' || !('status' in head)) return head
    return this.#follow('GET', url)
  }

  /** With the status that the page answered, if it answered. */
  async #follow(method: 'HEAD' | 'GET', address: string): Promise<Verdict & { status?: number }> {
    let url = parseWebUrl(address)
    for (let hop = 0; url !== null && hop <= REDIRECTS_MAX; hop += 1) {
      const rules = await this.#rulesOf(url)
      if ('verdict' in rules) return rules.verdict
      if (rules.robots.isAllowed(url.href, USER_AGENT) === false) {
        return { kind: 'unknown', detail: 'robots.txt does not allow it' }
      }
      const answer = await this.#ask(method, url)
      if ('kind' in answer) return answer
      const { status, location } = answer
      const isRedirect = status >= 300 && status < 400 && location !== null
      if (!isRedirect) return { ...verdictOf(status), status }
      url = parseWebUrl(URL.parse(location, url)?.href ?? '')
    }
    return { kind: 'gone', detail: 'redirects without end, or to a URL that is not a web page' }
  }

  async #ask(
    method: 'HEAD' | 'GET',
    url: URL,
  ): Promise<Verdict | { readonly status: number; readonly location: string | null }> {
    try {
      const { statusCode: status, headers, body } = await this.#request(method, url)
      body.on('error', () => undefined).destroy()
      const { location } = headers
      return { status, location: typeof location === 'string' ? location : null }
    } catch (error) {
      return unreached(error)
    }
  }

  #rulesOf(url: URL): Promise<Rules> {
    const known = this.#rules.get(url.origin)
    if (known !== undefined) return known
    const rules = this.#readRules(url)
    this.#rules.set(url.origin, rules)
    return rules
  }

  async #readRules({ origin, host }: URL): Promise<Rules> {
    const address = new URL('/robots.txt', origin)
    try {
      const { statusCode, body } = await this.#request('GET', address)
      const text = await readStart(body)
      if (statusCode >= 500) {
        return { verdict: { kind: 'unknown', detail: `robots.txt answered ${statusCode}` } }
      }
      const robots = parseRobots(address.href, statusCode === 200 ? text : '')
      const delayMs = (robots.getCrawlDelay(USER_AGENT) ?? 0) * 1_000
      this.#delayMs.set(host, Math.min(Math.max(delayMs, EACH_HOST_MS), CRAWL_DELAY_MS_MAX))
      return { robots }
    } catch (error) {
      return { verdict: unreached(error) }
    }
  }

  /** Waits for its turn at the host. */
  async #request(method: 'HEAD' | 'GET', url: URL): Promise<Dispatcher.ResponseData> {
    const { agent, now, sleep } = this.#options
    const nowMs = now().getTime()
    const atMs = Math.max(nowMs, this.#nextMs.get(url.host) ?? 0)
    this.#nextMs.set(url.host, atMs + (this.#delayMs.get(url.host) ?? EACH_HOST_MS))
    if (atMs > nowMs) await sleep(atMs - nowMs)
    return agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { 'user-agent': USER_AGENT, accept: '*/*' },
      signal: AbortSignal.timeout(ANSWER_MS),
    })
  }
}

function unreached(error: unknown): Verdict {
  if (error instanceof PrivateAddressError) {
    return { kind: 'unknown', detail: 'its host has no public address' }
  }
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  return { kind: 'gone', detail: `does not answer${code}` }
}

async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes > ROBOTS_BYTES_MAX) break
  }
  return Buffer.concat(parts).toString('utf8')
}
