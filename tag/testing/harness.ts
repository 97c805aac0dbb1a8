/**
 * The part of the tag that works on a page's links, with a queue that answers at once: thousands
 * of pages can so be tried inside one. Bundled by the specs that use it, never shipped.
 */
import { type PageLinks, watchLinks } from '../page-links.ts'
import type { Job, RequestQueue } from '../request-queue.ts'
import { type PageSettings, readService } from '../settings.ts'

export interface TrialPage {
  readonly html: string
  readonly settings: PageSettings
  readonly isMember: boolean
}

interface TrialResult {
  /** `data-n` of every anchor whose address the tag replaced, in the order of the page. */
  readonly rewritten: string[]
  /** Likewise, after the page has redrawn all of its links. */
  readonly redrawn: string[]
  /** Where every anchor led after the auctions. */
  readonly hrefs: string[]
  readonly auctions: string[]
  readonly impressions: string[]
  readonly rawUrls: string[]
  /** Whether ending the session gave the page its own markup back. */
  readonly isRestored: boolean
}

const BASE = 'https://souk.example'
const LINK = 'https://go.example'
const REDIRECT = `${BASE}/api/v1/redirect/`

/** Shows a page, lets the tag work on it, reports, and ends the session. */
function tryPage(trial: TrialPage, answerAuction?: unknown): TrialResult {
  const root = document.createElement('main')
  root.innerHTML = trial.html
  document.body.replaceChildren(root)
  const before = root.innerHTML
  const service = new TrialService(answerAuction)
  const { links, impressions } = watch(trial, service)
  while (links._scan());
  service.answerAll()
  const rewritten = findRewritten(root)
  const hrefs = [...root.querySelectorAll('a')].map((anchor) => anchor.href)
  if (answerAuction === undefined) {
    root.innerHTML = trial.html
    while (links._scan());
  }
  const redrawn = findRewritten(root)
  links._end()
  return {
    rewritten,
    redrawn,
    hrefs,
    impressions,
    auctions: service.auctions,
    rawUrls: service.rawUrls,
    isRestored: root.innerHTML === before,
  }
}

function findRewritten(root: HTMLElement): string[] {
  return [...root.querySelectorAll<HTMLElement>('a,area')]
    .filter((anchor) => anchor.getAttribute('href')?.startsWith(REDIRECT))
    .map((anchor) => anchor.dataset.n ?? '')
}

function watch(
  { settings, isMember }: TrialPage,
  service: TrialService,
): { links: PageLinks; impressions: string[] } {
  const impressions: string[] = []
  const configuration = {
    amp_config: { publisher_id: 1, linkmate_enabled: isMember },
    page_tag: { auction_url: BASE, link_url: LINK, brand: 'service', domains: [] },
  }
  const links = watchLinks(
    {
      _settings: settings,
      _service: readService({ data: [configuration] }, BASE),
      _consent: () => ({ consent: 'full', consent_source: undefined }),
      _queue: service.queue,
      _links: new Map(),
    },
    {
      _uuid: 'u',
      _asked: {},
      _sourceUrl: location.href,
      _send(type, events) {
        if (type !== 'service_link_impression') return
        impressions.push(...(events as { auction_id: string }[]).map((event) => event.auction_id))
      },
    },
  )
  return { links, impressions }
}

/** Answers what is asked in the order it is asked: every raw link its own smart link. */
class TrialService {
  readonly auctions: string[] = []
  readonly rawUrls: string[] = []
  readonly #jobs: Job[] = []
  readonly #answerAuction: unknown
  readonly queue: RequestQueue = {
    _add: (job) => void this.#jobs.push(job),
    _flush: () => undefined,
  }

  constructor(answerAuction: unknown) {
    this.#answerAuction = answerAuction
  }

  answerAll(): void {
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      try {
        job._done?.(this.#answer(job))
      } catch {
        // The real queue catches what the reader of an answer throws; so does this one.
      }
    }
  }

  #answer({ _url, _body }: Job): unknown {
    const { pathname, searchParams } = new URL(_url)
    if (pathname.endsWith('/linkmate/smart_links/')) {
      const { links } = JSON.parse(_body ?? '') as { links: { raw_url: string }[] }
      const smart_links = links.map(({ raw_url }) => {
        const at = this.rawUrls.push(raw_url)
        return { auction_id: String(8_000_000_000_000_000_000n + BigInt(at)), url: raw_url }
      })
      return { data: [{ smart_links }] }
    }
    const id = searchParams.get('a') ?? ''
    this.auctions.push(id)
    const auction_result = { id: 'r', auction_id: id, redirect_url: `${REDIRECT}?a=${id}` }
    return this.#answerAuction ?? { data: [{ auction_result }] }
  }
}

declare global {
  interface Window {
    tryPage: typeof tryPage
  }
}
window.tryPage = tryPage
