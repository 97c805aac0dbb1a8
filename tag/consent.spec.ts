/** Consent decides what happens before any identifier exists (tag/README.md, Consent). */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { passTime } from './testing/browser.ts'
import { startVisits } from './testing/visit.ts'

const { network, visit } = await startVisits({ after })
const { web } = network

const FULL = 1
const CONTEXTUAL = 2
for (const [title, fixture, hash, expected] of [
  ['refused in TCF', 'consent-tcf.html', '', { consent: CONTEXTUAL, source: 'tcf' }],
  ['agreed in TCF', 'consent-tcf.html', '#agreed', { consent: FULL, source: 'tcf' }],
  [
    'meets a TCF tool that throws',
    'consent-tcf.html',
    '#broken',
    { consent: CONTEXTUAL, source: 'tcf' },
  ],
  [
    'meets a GPP tool that answers nothing',
    'consent-gpp.html',
    '#broken',
    { consent: CONTEXTUAL, source: 'gpp' },
  ],
  ['opted out in GPP', 'consent-gpp.html', '', { consent: CONTEXTUAL, source: 'gpp' }],
  ['did not opt out in GPP', 'consent-gpp.html', '#agreed', { consent: FULL, source: 'gpp' }],
] as const) {
  test(`a reader who ${title} is handled accordingly`, async (t) => {
    const before = web.trackers.length
    const visited = await visit(t, fixture + hash)
    const { page, url, errors } = visited
    await page.locator('[data-souk-auction]').waitFor() // The tag waits for a silent tool.
    await visited.quiet()
    const { auctions } = visited
    const word = expected.consent === FULL ? 'full' : 'contextual'
    assert.equal(auctions[0]?.get('consent'), word)
    assert.equal(auctions[0]?.get('consent_source'), expected.source)
    assert.deepEqual((await network.recorded(url)).consents, [expected.consent])
    assert.equal(web.trackers.length - before, expected.consent === FULL ? 3 : 0)
    const href = (await page.locator('a').getAttribute('href')) ?? ''
    const uid = new URL(href).searchParams.get('uid_service')
    assert.equal(uid === '0', expected.consent === CONTEXTUAL)
    assert.deepEqual(errors, [])
  })
}

for (const fixture of ['consent-tcf.html', 'consent-gpp.html']) {
  test(`uses the publisher’s default where no law asked the reader (${fixture})`, async (t) => {
    const { auctions } = await visit(t, `${fixture}#not-asked`)
    const [auction] = auctions
    assert.deepEqual([auction?.get('consent'), auction?.get('consent_source')], ['unknown', ''])
  })
}

test('sends no third party anything after a reader refuses', async (t) => {
  const before = web.trackers.length
  const { page, quiet } = await visit(t, 'scrolling.html', async (page) => {
    await page.addInitScript(() => {
      Object.assign(window, { souk: { consent: 'full' } })
      addEventListener('DOMContentLoaded', () => {
        document.body.style.paddingTop = '3000px'
      })
    })
  })
  const fired = () => web.trackers.slice(before).map(({ path }) => path.split('?')[0])
  assert.deepEqual(fired().toSorted(), ['/second', '/seen'])
  await page.evaluate(() => Object.assign(Reflect.get(window, 'souk'), { consent: 'contextual' }))
  await page.locator('#top').scrollIntoViewIfNeeded()
  await page.waitForTimeout(300)
  await quiet()
  assert.equal(fired().length, 2)
})

test('Global Privacy Control wins over every setting of the page', async (t) => {
  const before = web.trackers.length
  const { auctions, url } = await visit(t, 'consent-tcf.html#agreed', async (page) => {
    await page.addInitScript(() =>
      Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }),
    )
  })
  assert.equal(auctions[0]?.get('consent'), 'contextual')
  assert.equal(auctions[0]?.get('consent_source'), 'gpc')
  assert.deepEqual((await network.recorded(url)).consents, [CONTEXTUAL])
  assert.equal(web.trackers.length, before)
})

for (const [title, said, expected] of [
  ['refuses', { gdprApplies: true, purpose: { consents: {} } }, 'contextual tcf'],
  ['agrees', { gdprApplies: true, purpose: { consents: { 1: true } } }, 'full tcf'],
] as const) {
  test(`asks a consent tool that loads 700 ms after the tag, and the reader ${title}`, async (t) => {
    const visited = await visit(t, 'single-page.html', async (page) => {
      await page.addInitScript((data) => {
        addEventListener('load', () =>
          setTimeout(() => {
            const listen = (_: string, __: number, listener: (data: object) => void) =>
              setTimeout(() => listener({ ...data, eventStatus: 'tcloaded' }), 20)
            Object.assign(window, { __tcfapi: listen })
          }, 700),
        )
      }, said)
    })
    const { page, quiet, errors } = visited
    const words = () =>
      visited.auctions.map((query) => `${query.get('consent')} ${query.get('consent_source')}`)
    await passTime(page, 1_500)
    const before = words().length
    assert.ok(before > 0)
    await page.locator('#next').click()
    await quiet()
    assert.deepEqual([...new Set(words().slice(before))], [expected])
    assert.deepEqual(errors, [])
  })
}

test('obeys a refusal in a tool that loads after the first article, from the next article on', async (t) => {
  const visited = await visit(t, 'single-page.html', async (page) => {
    await page.addInitScript(() => Object.assign(window, { souk: { consent: 'full' } }))
  })
  const { page, quiet } = visited
  assert.ok(visited.auctions.every((query) => query.get('consent') === 'full'))
  const before = visited.auctions.length
  await page.evaluate(() => {
    const sections = { usnat: { SaleOptOut: 1 } }
    const pingData = { signalStatus: 'ready', parsedSections: sections }
    const listen = (_: string, listener: (event: object) => void) => listener({ pingData })
    Object.assign(window, { __gpp: listen })
  })
  await page.locator('#next').click()
  await quiet()
  const words = visited.auctions
    .slice(before)
    .map((query) => `${query.get('consent')} ${query.get('consent_source')}`)
  assert.deepEqual([...new Set(words)], ['contextual gpp'])
})
