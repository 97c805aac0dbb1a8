/**
 * The part of the tag that works on a page's links, with a queue that answers at once: thousands
 * of pages can so be tried inside one. Bundled by the specs that use it, never shipped.
 */
import { type PageLinks, watchLinks } from '../page-links.ts'
import type { Job } from '../request-queue.ts'
import { type PageSettings, readService } from '../settings.ts'

export interface TrialPage {
  readonly html: string
  readonly settings: PageSettings
  readonly isMember: boolean
}

export interface TrialResult {
  /** `data-n` of every anchor whose address the tag replaced, in the order of the page. */
  readonly rewritten: string[]
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

/** Shows a page, lets the tag work on it, reports, and ends the session. */
export function tryPage(
  { html, settings, isMember }: TrialPage,
  answerAuction?: unknown,
): TrialResult {
  const result = { auctions: [], impressions: [], rawUrls: [] } as {
    [name in 'auctions' | 'impressions' | 'rawUrls']: string[]
  }
  const service = readService(
    {
      data: [
        {
          amp_config: { publisher_id: 1, linkmate_enabled: isMember },
          page_tag: { link_url: LINK },
        },
      ],
    },
    BASE,
  )
  const jobs: Job[] = []
  const root = document.createElement('main')
  root.innerHTML = html
  document.body.replaceChildren(root)
  const before = root.innerHTML
  const links: PageLinks = watchLinks(
    {
      _settings: settings,
      _service: service,
      _consent: () => ({ _value: 'full', _source: undefined }),
      _queue: { _add: (job) => void jobs.push(job), _flush: () => jobs.splice(0) },
    },
    {
      _uuid: 'u',
      _sourceUrl: location.href,
      _send(type, events) {
        if (!/^service_link_impression$/.test(type)) return
        for (const event of events) {
          result.impressions.push((event as { auction_id: string }).auction_id)
        }
      },
    },
  )
  links._scan()
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    try {
      answer(job)
    } catch {
      // The queue catches what an answer's reader throws; so does this one.
    }
  }
  const rewritten = [...root.querySelectorAll<HTMLElement>('a,area')]
    .filter((anchor) => anchor.getAttribute('href')?.startsWith(`${BASE}/api/v1/redirect/`))
    .map((anchor) => anchor.dataset.n ?? '')
  const hrefs = [...root.querySelectorAll('a')].map((anchor) => anchor.href)
  links._end()
  return { ...result, rewritten, hrefs, isRestored: root.innerHTML === before }

  function answer(job: Job): void {
    const { pathname, searchParams } = new URL(job._url)
    if (pathname.endsWith('/linkmate/smart_links/')) {
      const { links: asked } = JSON.parse(job._body ?? '') as { links: { raw_url: string }[] }
      const smart_links = asked.map(({ raw_url }) => {
        const at = result.rawUrls.push(raw_url)
        return { auction_id: String(8_000_000_000_000_000_000n + BigInt(at)), url: raw_url }
      })
      job._done?.({ data: [{ smart_links }] })
    } else if (pathname === '/api/v1/auction/') {
      const id = searchParams.get('a') ?? ''
      result.auctions.push(id)
      const auction_result = {
        id: 'r',
        auction_id: id,
        redirect_url: `${BASE}/api/v1/redirect/?a=${id}`,
      }
      job._done?.(answerAuction ?? { data: [{ auction_result }] })
    }
  }
}

declare global {
  interface Window {
    tryPage: typeof tryPage
  }
}
window.tryPage = tryPage
