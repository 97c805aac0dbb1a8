/**
 * The overlay that `#souk-debug` opens on a live page: it outlines every link and lists what the
 * tag does with it. Loaded on demand, so readers never download it.
 */
import type { LinkReport, LinkStatus, PageReport } from '../src/check-page/page-report.ts'
import { probePolicy } from './probe.ts'

/** Also used for text on white, so each has a contrast of 4.5 : 1 (WCAG 1.4.3). */
const COLOURS: Record<LinkStatus, string> = {
  auctioned: '#0a7d33',
  waiting: '#a56200',
  left: '#767676',
}

const STYLE = `
:host { all: initial; direction: ltr }
section { position: fixed; right: 12px; bottom: 12px; z-index: 2147483647; width: 30em;
  max-width: calc(100vw - 24px); max-height: 60vh; overflow: auto; background: #fff; color: #111;
  font: 13px/1.4 system-ui, sans-serif; border: 1px solid #999; border-radius: 6px;
  box-shadow: 0 4px 24px #0004 }
header { position: sticky; top: 0; background: #fff; padding: 8px 12px;
  border-bottom: 1px solid #ddd }
button { float: right; font: inherit }
ol { margin: 0; padding: 8px 12px 12px 3em }
li { margin: 6px 0; overflow-wrap: anywhere }
p { margin: 4px 0 0 }`

const CONSENT: Record<string, string> = {
  full: 'given',
  contextual: 'refused',
  unknown: 'unknown to the page: the account’s default applies',
}

const REFRESH_MS = 1000
const NAME = 'Souk on this page'

/** Outlines every link in the colour of its state; the returned function removes the outlines. */
export const outlineLinks = (page: PageReport | null): (() => void) => {
  const before = new Map<HTMLElement, string>()
  const shown = Array.from(document.links).filter((anchor) => navigator.souk?._links?.has(anchor))
  page?.links.forEach(({ status }, at) => {
    const anchor = shown[at]
    if (!anchor) return
    before.set(anchor, anchor.style.outline)
    anchor.style.outline = `3px solid ${COLOURS[status]}`
  })
  return () => {
    for (const [anchor, outline] of before) anchor.style.outline = outline
  }
}

/** Shows the overlay and keeps it up to date until it is closed. */
export const showOverlay = (report: () => PageReport | null): void => {
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  const style = new CSSStyleSheet()
  style.replaceSync(STYLE)
  root.adoptedStyleSheets = [style]
  document.body.append(host)
  let takeOutlinesBack = (): void => undefined
  let forbidden: string[] = []
  const service = navigator.souk?._service
  if (service) {
    probePolicy(service._base, service.auction_url).then((found) => {
      forbidden = found
    })
  }

  const refresh = (): void => {
    const page = report()
    takeOutlinesBack()
    takeOutlinesBack = outlineLinks(page)
    // Redrawn only after a change: a list that jumps cannot be read.
    const drawn = JSON.stringify([page, forbidden])
    if (drawn !== shown) root.replaceChildren(panel(page, { forbidden, close }))
    shown = drawn
  }
  let shown = ''
  const close = (): void => {
    clearInterval(timer)
    takeOutlinesBack()
    host.remove()
  }
  const timer = setInterval(refresh, REFRESH_MS)
  refresh()
}

const panel = (
  page: PageReport | null,
  { forbidden, close }: { forbidden: readonly string[]; close: () => void },
): HTMLElement => {
  const section = element('section')
  section.ariaLabel = NAME
  const button = element('button', 'Close')
  button.onclick = close
  const header = element('header')
  header.append(button, element('b', NAME), ...summary(page))
  section.append(header)
  if (page) {
    header.append(...notes(page, forbidden))
    const list = element('ol')
    list.append(...page.links.map(item))
    section.append(list)
  }
  return section
}

const notes = (page: PageReport, forbidden: readonly string[]): HTMLElement[] => {
  const others = page.other_tags.map(
    (name) => `${name} is on the page: exclude our hosts in its settings.`,
  )
  return [...forbidden, ...page.blocked, ...others].map((text) => element('p', text))
}

const summary = (page: PageReport | null): HTMLElement[] => {
  if (!page) return [element('p', 'The tag is waiting for the service or for consent.')]
  const count = (status: LinkStatus): number =>
    page.links.filter((link) => link.status === status).length
  const source = page.consent_source ? ` (${page.consent_source})` : ''
  return [
    element(
      'p',
      `Publisher ${page.publisher_id}, ${page.is_member ? 'in' : 'not in'} the partner program; ` +
        `consent ${CONSENT[page.consent]}${source}`,
    ),
    element(
      'p',
      `${page.links.length} link${page.links.length === 1 ? '' : 's'}: ` +
        `${count('auctioned')} auctioned, ${count('waiting')} waiting, ` +
        `${count('left')} left alone`,
    ),
  ]
}

const item = (link: LinkReport): HTMLElement => {
  const line = element('li')
  const name = element('b', link.text || link.url)
  name.style.color = COLOURS[link.status]
  line.append(name, element('p', link.why))
  if (link.product) {
    const price = link.price ? `, $${link.price}` : ''
    line.append(element('p', `${link.product}${price}, ${link.merchant ?? 'merchant unknown'}`))
  }
  if (link.auction_id) line.append(element('p', `Auction id ${link.auction_id}`))
  return line
}

const element = (name: string, text = ''): HTMLElement => {
  const made = document.createElement(name)
  made.textContent = text
  return made
}
