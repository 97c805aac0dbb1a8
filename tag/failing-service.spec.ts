/** After any failure the page is unchanged and every link still works. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Request } from 'playwright-core'
import { until } from '../test/support/market.ts'
import { openPage } from './testing/browser.ts'
import { type Answer, type Call, type StandIn, startStandIn } from './testing/stand-in.ts'

const ARTICLE = `<!doctype html><meta charset="utf-8"><title>Ten kettles</title>
<main><p>The <a href="{link}/9007199254740993" rel="bookmark">first</a> and
<a class="buy" href="{link}/9007199254740993?u1=x" data-souk-text="{price} at {merchant}">again</a>,
a <a href="https://shop.example/p/1">raw one</a> and <a href="/about">us</a>.</p></main>
<script async src="/tag/souk.js" data-publisher="demo"></script>`

/** The parts of the page that the tag could have changed. */
const markup = (page: Page): Promise<string> =>
  page.evaluate(() => document.documentElement.outerHTML)

/** The same article without a tag. */
async function untouched(page: Page, { articleUrl }: StandIn): Promise<string> {
  await page.route('**/tag/souk.js', (route) => route.fulfill({ status: 404 }))
  await page.goto(articleUrl)
  const text = await markup(page)
  await page.unroute('**/tag/souk.js')
  return text
}

/** When the page requested its configuration, by its own clock. */
const askedAtMs = (page: Page): Promise<number[]> =>
  page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.includes('/amp_config/'))
      .map(({ startTime }) => startTime),
  )

/**
 * Open requests of a page, counted in the page: a server notices an aborted one only after the next
 * has arrived.
 */
function countOpen(page: Page): { readonly openMax: number } {
  const asked = { open: 0, openMax: 0 }
  const isCall = (request: Request) => request.url().includes('/api/')
  page.on('request', (request) => {
    if (isCall(request)) asked.openMax = Math.max(asked.openMax, ++asked.open)
  })
  const ended = (request: Request) => {
    if (isCall(request)) asked.open--
  }
  page.on('requestfailed', ended).on('requestfinished', ended)
  return asked
}

const everywhere = (answer: Answer): Record<Call, Answer> => ({
  config: answer,
  linkmate: answer,
  auction: answer,
  events: answer,
  pixel: answer,
})

/** The tag's first pause is a second; clocks within a browser differ slightly. */
const FIRST_PAUSE_MS = 950
/** A step by which a test advances a page's clock. */
const STEP_MS = 5
/** The tag's timeout of a request. */
const CALL_MS = 8_000

const GARBAGE = [
  '',
  '<html>',
  'null',
  '7',
  '[]',
  '{}',
  '{"data":null}',
  '{"data":[]}',
  '{"data":[{}]}',
  '{"data":[{"amp_config":null,"smart_links":[null],"auction_result":{}}]}',
]

/** They wait most of the time, so four take the time of one. */
suite('a failing service', { concurrency: 4 }, () => {
  for (const [name, answer] of [
    ['breaks every connection', { isCut: true }],
    ['answers 500', { status: 500, body: 'no' }],
    ['answers 429', { status: 429, body: '{}' }],
    ['answers 404', { status: 404, body: '{}' }],
    ...GARBAGE.map((body): [string, Answer] => [`answers ${body || 'nothing'}`, { body }]),
  ] satisfies [string, Answer][]) {
    test(`a service that ${name} to the first request changes nothing`, async (t) => {
      const service = await startStandIn(t, { article: ARTICLE, answers: { config: answer } })
      const { page, errors } = await openPage(t)
      const before = await untouched(page, service)
      await page.goto(service.articleUrl)
      await until(() => service.calls.length > 0)
      // The back-off's first pause is a second: until then nothing may follow the response.
      await page.waitForTimeout(300)
      assert.equal(await markup(page), before)
      assert.deepEqual(errors, [])
      // On a busy machine the 300 ms above may have taken a second.
      const [first = 0, second = Number.POSITIVE_INFINITY] = await askedAtMs(page)
      const pauseMs = second - first
      assert.ok(pauseMs > FIRST_PAUSE_MS, `asked again after ${pauseMs} ms`)
    })

    test(`a service that ${name} to auctions and LinkMate leaves every link as it was`, async (t) => {
      const answers = { ...everywhere(answer), config: {} }
      const service = await startStandIn(t, { article: ARTICLE, answers })
      const { page, errors } = await openPage(t)
      const before = await untouched(page, service)
      await page.goto(service.articleUrl)
      await until(() => service.calls.length > 2)
      await page.waitForTimeout(300)
      assert.equal(await markup(page), before)
      assert.deepEqual(errors, [])
    })
  }

  test('backs off from a failing service, then stops', async (t) => {
    const links = Array.from(
      { length: 50 },
      (_, at) => `<a href="{link}/${9_007_199_254_740_993n + BigInt(at)}">x</a>`,
    )
    const service = await startStandIn(t, {
      article: ARTICLE.replace('<main>', `<main>${links.join('')}`),
      answers: { auction: { status: 503 }, linkmate: { status: 503 }, events: { status: 503 } },
    })
    const { page } = await openPage(t)
    await page.goto(service.articleUrl)
    // Pauses of 1 and 2, then 4 and 8 seconds after two requests at a time; then silence. Reports
    // back off separately: the page impression is sent four times.
    const asked = (call: Call) => service.calls.filter((seen) => seen.call === call).length
    await until(() => asked('auction') + asked('linkmate') >= 4)
    await page.waitForTimeout(9_000)
    const questions = asked('auction') + asked('linkmate')
    assert.ok(questions <= 5, `${questions} questions`)
    assert.ok(asked('events') <= 4, `${asked('events')} reports`)
  })

  for (const [name, answer] of [
    ['an ad blocker refuses them', null],
    ['their connections break', { isCut: true }],
    ['the service refuses them', { status: 503 }],
    ['nobody answers them', { isSilent: true }],
  ] satisfies [string, Answer | null][]) {
    test(`auctions wait for no report and no pixel where ${name}`, async (t) => {
      const links = Array.from(
        { length: 20 },
        (_, at) => `<a href="{link}/${9_007_199_254_740_993n + BigInt(at)}">x</a>`,
      )
      const service = await startStandIn(t, {
        article: ARTICLE.replace('<main>', `<main>${links.join('')}`),
        answers: answer === null ? {} : { events: answer, pixel: answer },
      })
      const { page, errors } = await openPage(t)
      if (answer === null) await page.route(/\/api\/v1\/(events|pixel)\//, (route) => route.abort())
      // By the page's own clock, which stops between steps: a pause of the tag shows on a busy
      // machine too.
      await page.clock.install({ time: 0 })
      await page.clock.pauseAt(1_000)
      await page.goto(service.articleUrl)
      const auctions = () => service.calls.filter(({ call }) => call === 'auction').length
      let passedMs = 0
      while (auctions() <= links.length && passedMs < FIRST_PAUSE_MS) {
        await page.clock.runFor(STEP_MS)
        passedMs += STEP_MS
        await sleep(20)
      }
      assert.equal(auctions(), links.length + 1, `after ${passedMs} ms`)
      assert.deepEqual(errors, [])
    })
  }

  test('aborts a request to a slow service after eight seconds, without delaying the page', async (t) => {
    const service = await startStandIn(t, {
      article: ARTICLE,
      answers: { ...everywhere({ delayMs: 10_000 }), config: {} },
    })
    const { page, errors } = await openPage(t)
    const before = await untouched(page, service)
    const asked = countOpen(page)
    const start = Date.now()
    await page.goto(service.articleUrl, { waitUntil: 'load' })
    assert.ok(Date.now() - start < CALL_MS, 'the page waited')
    await until(() => service.calls.length >= 2)
    await page.waitForTimeout(CALL_MS + 500)
    assert.equal(await markup(page), before)
    assert.deepEqual(errors, [])
    assert.ok(asked.openMax <= 4, `${asked.openMax} at a time`)
  })

  test('links still work after a reader goes offline', async (t) => {
    const service = await startStandIn(t, {
      article: ARTICLE,
      answers: { config: { delayMs: 500 } },
    })
    const { page, errors } = await openPage(t)
    const before = await untouched(page, service)
    await page.goto(service.articleUrl)
    await until(() => service.calls.length > 0)
    await page.context().setOffline(true)
    await page.waitForTimeout(1_000)
    assert.equal(await markup(page), before)
    assert.deepEqual(errors, [])
  })

  for (const policy of [
    "script-src 'none'",
    "connect-src 'none'",
    "default-src 'none'; script-src 'self'",
    "default-src 'none'; script-src 'self'; sandbox allow-scripts",
  ]) {
    test(`a page whose policy is ${policy} is unharmed`, async (t) => {
      const service = await startStandIn(t, {
        article: ARTICLE,
        headers: { 'content-security-policy': policy },
      })
      const { page, errors } = await openPage(t)
      const before = await untouched(page, service)
      await page.goto(service.articleUrl)
      await page.waitForTimeout(500)
      assert.equal(await markup(page), before)
      assert.deepEqual(errors, [])
    })
  }

  test('works under a strict policy without unsafe-inline or unsafe-eval', async (t) => {
    const policy =
      "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; style-src 'none'; " +
      "require-trusted-types-for 'script'"
    const service = await startStandIn(t, {
      article: ARTICLE,
      headers: { 'content-security-policy': policy },
    })
    const { page, errors } = await openPage(t)
    const violations: string[] = []
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) violations.push(message.text())
    })
    await page.goto(service.articleUrl)
    await until(() => service.calls.filter(({ call }) => call === 'pixel').length === 2)
    const hrefs = await page.evaluate(() => Array.from(document.links, ({ href }) => href))
    assert.equal(hrefs.filter((href) => href.includes('/api/v1/redirect/')).length, 3)
    assert.deepEqual(violations, [])
    assert.deepEqual(errors, [])
  })

  test('no more than four requests are open at a time, images included', async (t) => {
    const links = Array.from(
      { length: 60 },
      (_, at) => `<a href="{link}/${9_007_199_254_740_993n + BigInt(at)}">x</a>`,
    )
    const service = await startStandIn(t, {
      article: ARTICLE.replace('<main>', `<main>${links.join('')}`),
      answers: { ...everywhere({ delayMs: 10 }) },
    })
    const { page } = await openPage(t)
    await page.goto(service.articleUrl)
    await until(() => service.calls.filter(({ call }) => call === 'pixel').length >= 61)
    assert.ok(service.openAtOnceMax <= 4, `${service.openAtOnceMax} at a time`)
  })

  test('leaves the page alone in an old browser without the features it needs', async (t) => {
    const service = await startStandIn(t, { article: ARTICLE })
    const { page, errors } = await openPage(t)
    const before = await untouched(page, service)
    for (const missing of ['IntersectionObserver', 'MutationObserver', 'AbortSignal', 'fetch']) {
      await page.addInitScript((name) => Reflect.deleteProperty(window, name), missing)
    }
    await page.goto(service.articleUrl)
    await page.waitForTimeout(500)
    assert.equal(await markup(page), before)
    assert.deepEqual(errors, [])
  })
})
