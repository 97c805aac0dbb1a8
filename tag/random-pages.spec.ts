/**
 * Property: on any page, the tag rewrites exactly the anchors that the rules give. Each anchor is
 * generated from a kind with a known verdict.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { build } from 'esbuild'
import { encodeBase62 } from '../src/platform/ids.ts'
import fc from '../test/support/fast-check.ts'
import type { PageSettings } from './settings.ts'
import { openPage, type WatchedPage } from './testing/browser.ts'
import type { TrialPage } from './testing/harness.ts'

const PAGES = 10_000
/** Pages sent to the browser at a time: one round trip per page would take most of the time. */
const PAGES_PER_BATCH = 250
const LINK = 'https://go.example'

type Fate = 'smart' | 'smart without auction' | 'raw' | 'wrapper' | 'left'

interface Kind {
  readonly fate: Fate
  /** The attributes of an anchor, the `which`-th of its kind. */
  attributes(which: number): string
}

const idOf = (which: number): string => String(4_611_686_018_427_387_904n + BigInt(which))
const smart = (which: number, end = ''): string => `href="${LINK}/${idOf(which)}${end}"`
const inside = (url: string): string => encodeURIComponent(url)

const KINDS: readonly Kind[] = [
  { fate: 'smart', attributes: (n) => smart(n) },
  { fate: 'smart', attributes: (n) => smart(n, '/') },
  { fate: 'smart', attributes: (n) => smart(n, '?u1=a&amp;utm_source=b') },
  { fate: 'smart', attributes: (n) => smart(n, '/?u1=x?amp=true#part') },
  { fate: 'smart', attributes: (n) => `href=" HTTP://Go.Example/${idOf(n)} " rel="nofollow"` },
  { fate: 'smart', attributes: (n) => `href="//go.example/${idOf(n)}" target="_blank"` },
  { fate: 'smart', attributes: (n) => `href="${LINK}/${encodeBase62(idOf(n))}"` },
  { fate: 'smart without auction', attributes: (n) => `${smart(n)} rel="sponsored noauction"` },
  { fate: 'left', attributes: (n) => smart(n, '#donotlink') },
  { fate: 'left', attributes: (n) => `${smart(n)} data-souk-ignore` },
  {
    fate: 'left',
    attributes: (n) => `href="${LINK}/link/?url=${inside(`https://s.example/${n}`)}"`,
  },
  { fate: 'left', attributes: () => `href="${LINK}/9223372036854775808"` },
  { fate: 'left', attributes: () => `href="${LINK}/newsletter"` },
  { fate: 'left', attributes: (n) => `href="${LINK}/${idOf(n)}/comments"` },
  { fate: 'left', attributes: (n) => `href="https://souk.example/docs/${n}"` },
  { fate: 'raw', attributes: (n) => `href="https://shop.example/p/${n}"` },
  {
    fate: 'raw',
    attributes: (n) => `href="http://www.shop.example/p?id=${n}&amp;x=ä" rel="noopener"`,
  },
  { fate: 'raw', attributes: (n) => `href="https://shop.example/p/${n}#locklink"` },
  { fate: 'left', attributes: (n) => `href="https://shop.example/p/${n}#donotlink"` },
  { fate: 'left', attributes: (n) => `href="https://shop.example/p/${n}" rel="noauction"` },
  { fate: 'left', attributes: (n) => `href="https://shop.example/${n}/${'x'.repeat(2000)}"` },
  {
    fate: 'wrapper',
    attributes: (n) => `href="https://c.example/?u=${inside(`https://s.example/${n}`)}"`,
  },
  {
    fate: 'left',
    attributes: (n) => `href="https://c.example/?u=${inside(`${LINK}/${idOf(n)}`)}"`,
  },
  { fate: 'left', attributes: (n) => `href="/local/${n}"` },
  { fate: 'left', attributes: () => 'href="#top"' },
  { fate: 'left', attributes: () => 'href="mailto:someone@shop.example"' },
  { fate: 'left', attributes: () => 'href="javascript:void 0"' },
  { fate: 'left', attributes: () => 'href="https://[broken"' },
  { fate: 'left', attributes: () => 'href="http://"' },
  { fate: 'left', attributes: () => 'href=""' },
  { fate: 'left', attributes: (n) => `name="${idOf(n)}"` },
]

interface Spot {
  readonly kind: number
  readonly which: number
  readonly element: 'a' | 'area'
  readonly parents: readonly ('div' | 'p' | 'ul' | 'ignored' | 'body')[]
}

const OPENING = {
  div: '<div>',
  p: '<section>',
  ul: '<ul><li>',
  ignored: '<div data-souk-ignore>',
  body: '<div class="article-body">',
}
const CLOSING = { div: '</div>', p: '</section>', ul: '</ul>', ignored: '</div>', body: '</div>' }

const spots = fc.array(
  fc.record<Spot>({
    kind: fc.nat(KINDS.length - 1),
    // Few, so that the same link appears more than once.
    which: fc.nat(5),
    element: fc.constantFrom('a', 'a', 'a', 'area'),
    parents: fc.array(fc.constantFrom('div', 'p', 'ul', 'body', 'ignored'), { maxLength: 3 }),
  }),
  { maxLength: 25 },
)
const settings = fc.record<PageSettings>(
  {
    donotlink: fc.boolean(),
    exclusiveLinks: fc.boolean(),
    unwrap: fc.boolean(),
    rel: fc.boolean(),
    u1: fc.constantFrom('front page', 'x&y'),
    selector: fc.constant('.article-body *'),
  },
  { requiredKeys: [] },
)
const pages = fc.record({ spots, settings, isMember: fc.boolean() })
type RandomPage = typeof pages extends fc.Arbitrary<infer T> ? T : never

function render({ spots: all, settings: chosen, isMember }: RandomPage): TrialPage {
  const html = all.map(({ kind, which, element, parents }, index) => {
    const attributes = KINDS[kind]?.attributes(which)
    const anchor = `<${element} data-n="${index}" ${attributes}>link</${element}>`
    return parents.reduce((within, parent) => OPENING[parent] + within + CLOSING[parent], anchor)
  })
  return { html: html.join('\n'), settings: chosen, isMember }
}

/** The rules' result, from the kinds alone. */
function expected({ spots: all, settings: chosen, isMember }: RandomPage) {
  const rewritten: string[] = []
  let impressions = 0
  const ids = new Set<string>()
  all.forEach(({ kind, which, parents }, index) => {
    if (parents.includes('ignored')) return
    const fate = KINDS[kind]?.fate ?? 'left'
    const isSmart = fate === 'smart' || fate === 'smart without auction'
    const isRaw = fate === 'raw' || (fate === 'wrapper' && chosen.unwrap !== false)
    const isAdopted =
      isRaw &&
      isMember &&
      chosen.donotlink !== true &&
      (chosen.selector === undefined || parents.includes('body'))
    if (isSmart || isAdopted) impressions++
    if (chosen.donotlink !== true && (fate === 'smart' || isAdopted)) {
      rewritten.push(String(index))
      ids.add(fate === 'smart' ? `smart ${which}` : `kind ${kind} ${which}`)
    }
  })
  return { rewritten, impressions, auctions: ids.size }
}

test(`on ${PAGES} random pages it rewrites exactly the anchors that the rules name`, async (t) => {
  const { page, errors } = await openTrialPage(t)
  const run = (batch: TrialPage[]) =>
    page.evaluate((list) => list.map((one) => window.tryPage(one)), batch)
  const batches = fc.array(pages, { minLength: PAGES_PER_BATCH, maxLength: PAGES_PER_BATCH })
  await fc.assert(
    fc.asyncProperty(batches, async (batch) => {
      const results = await run(batch.map(render))
      results.forEach((result, index) => {
        const one = batch[index]
        assert.ok(one)
        const rules = expected(one)
        const shown = JSON.stringify(render(one))
        assert.deepEqual(result.rewritten, rules.rewritten, shown)
        assert.deepEqual(result.redrawn, rules.rewritten, `drawn again: ${shown}`)
        assert.equal(result.impressions.length, rules.impressions, shown)
        assert.equal(result.auctions.length, rules.auctions, shown)
        assert.equal(new Set(result.auctions).size, result.auctions.length, 'one auction per id')
        assert.equal(new Set(result.rawUrls).size, result.rawUrls.length, 'each raw link once')
        assert.ok(result.isRestored, `not restored: ${shown}`)
      })
    }),
    { numRuns: PAGES / PAGES_PER_BATCH, endOnFailure: true },
  )
  assert.deepEqual(errors, [])
})

test('counts a link each of a thousand times it appears, without slowing the others', async (t) => {
  const { page } = await openTrialPage(t)
  const html = `<a ${smart(1)}>Buy</a>`.repeat(2_000)
  const { impressions, ms } = await page.evaluate(
    (trial) => {
      const beganMs = performance.now()
      const { impressions } = window.tryPage(trial)
      return { impressions, ms: performance.now() - beganMs }
    },
    { html, settings: {}, isMember: true },
  )
  assert.equal(impressions.length, 2_000)
  // Half a second; half a minute if each anchor scanned all anchors before it.
  assert.ok(ms < 10_000, `${Math.round(ms)} ms`)
})

const anything = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>
/** Responses that are wrong at every depth, from no envelope at all to one odd field. */
const answers = fc.oneof(
  anything,
  fc.record({ data: anything }),
  fc.record({ data: fc.array(anything) }),
  fc.record({ data: fc.tuple(fc.record({ auction_result: anything })) }),
  fc.record({
    data: fc.tuple(
      fc.record({
        auction_result: fc.record({
          redirect_url: fc.oneof(
            anything,
            fc.constantFrom('javascript:alert(1)', ' javascript:1', 'data:text/html,x', '//x', ''),
            fc.constant('https://souk.example/api/v1/redirect/?a=1'),
          ),
          product: anything,
          tracker_urls: anything,
        }),
        impression_pixel_url: anything,
        has_winner: anything,
      }),
    ),
  }),
)

test('whatever an auction answers, a link leads to the web or to its original page', async (t) => {
  const { page, errors } = await openTrialPage(t)
  const original = `${LINK}/${idOf(1)}`
  const html = `<a href="${original}" data-souk-text="{price} at {merchant}">a <b>link</b></a>`
  const trial = { html, settings: {}, isMember: true }
  await fc.assert(
    fc.asyncProperty(fc.array(answers, { minLength: 50, maxLength: 50 }), async (batch) => {
      const results = await page.evaluate(
        ({ one, list }) => list.map((answer) => window.tryPage(one, answer)),
        { one: trial, list: batch },
      )
      results.forEach(({ hrefs, isRestored }, index) => {
        const shown = JSON.stringify(batch[index])
        assert.match(hrefs[0] ?? '', /^https?:\/\/(go|souk)\.example\//, shown)
        assert.ok(isRestored, `not restored: ${shown}`)
      })
    }),
    { numRuns: 40 },
  )
  assert.deepEqual(errors, [])
})

/** An empty page on a host of a publisher, with the harness loaded. */
async function openTrialPage(t: TestContext): Promise<WatchedPage> {
  const watched = await openPage(t)
  const { page } = watched
  const bundled = await build({
    entryPoints: [join(import.meta.dirname, 'testing/harness.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2020',
  })
  // Nothing of this page leaves the browser.
  await page.route('**/*', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><body>' }),
  )
  await page.goto('https://news.example/article')
  await page.addScriptTag({ content: bundled.outputFiles[0]?.text ?? '' })
  return watched
}
