/** Traces what the page tag does on a page with many links. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { openPage } from './browser.ts'
import type { startNetwork } from './network.ts'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Start, duration and processor time, in microseconds. */
  readonly ts: number
  readonly dur?: number
  readonly tdur?: number
  readonly args: { readonly name?: string; readonly data?: { readonly url?: string } }
}

/** The minimal work to know the links of a page, in one task. */
const LOOK = `{
  const seen = new Map()
  for (const anchor of document.links) {
    const isMarked = anchor.matches('[rel~=mark]') || !!anchor.closest('[data-mark],:read-write')
    seen.set(anchor, { isMarked, url: new URL(anchor.href), text: anchor.textContent })
  }
  document.body.dataset.seen = JSON.stringify([...seen.values()]).length
}`

/** Publishes a page with this many links to one shop; returns its URL. */
export function publishLinks(
  { web }: Awaited<ReturnType<typeof startNetwork>>,
  count: number,
): string {
  const links = Array.from(
    { length: count },
    (_, at) => `<li><a href="${web.host('kettles')}/p/${at + 1}">Thing ${at + 1}</a></li>`,
  )
  web.publish('/many-links', `<!doctype html><title>Links</title><ol>${links.join('\n')}</ol>`)
  web.publish('/look.js', LOOK, { 'content-type': 'text/javascript' })
  return `${web.host('daily')}/many-links`
}

/** Loads the tag on a page of `publishLinks` until all links have an auction. */
export async function traceTag(
  { page, quiet }: Pick<Awaited<ReturnType<typeof openPage>>, 'page' | 'quiet'>,
  { page: url, service, links }: { page: string; service: string; links: number },
): Promise<TracedTag> {
  await page.goto(url)
  await quiet()
  return trace(page, async () => {
    await page.addScriptTag({ url: '/look.js' })
    await page.evaluate((src) => {
      const script = document.createElement('script')
      script.src = src
      script.dataset.publisher = 'daily'
      document.head.append(script)
    }, `${service}/tag/souk.js`)
    await page.waitForFunction(
      (count) => document.querySelectorAll('a[data-souk-auction]').length === count,
      links,
      { timeout: 120_000 },
    )
  })
}

export interface TracedTag {
  /** How many tasks ran a script of the tag. */
  readonly tasks: number
  /** The longest of them, in milliseconds. */
  readonly longestMs: number
  /** The minimal scan of all links in one task, in milliseconds. */
  readonly lookMs: number
}

/**
 * Processor time, because other programs run at the same time; but never more than elapsed time,
 * because the kernel may count in steps of 10 ms.
 */
async function trace(page: Page, work: () => Promise<unknown>): Promise<TracedTag> {
  const browser = page.context().browser()
  assert.ok(browser)
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] })
  await work()
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as {
    traceEvents: TraceEvent[]
  }
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`
  const isMain = (event: TraceEvent) => event.args.name === 'CrRendererMain'
  const main = new Set(traceEvents.filter(isMain).map(threadOf))
  const onMain = traceEvents.filter((event) => event.ph === 'X' && main.has(threadOf(event)))
  const tasks = onMain.filter(({ name }) => /RunTask$/.test(name))
  const scripts = onMain.filter(({ name }) => name === 'EvaluateScript' || name === 'FunctionCall')
  const durationsMs = (path: string): number[] => {
    const own = scripts.filter(({ args }) => args.data?.url?.includes(path))
    const isOwn = ({ ts, dur = 0 }: TraceEvent) =>
      own.some((script) => script.ts >= ts && script.ts <= ts + dur)
    return tasks.filter(isOwn).map(({ tdur = 0, dur = 0 }) => Math.min(tdur, dur) / 1000)
  }
  const tag = durationsMs('/tag/')
  return {
    tasks: tag.length,
    longestMs: Math.max(...tag),
    lookMs: Math.max(...durationsMs('/look.js')),
  }
}
