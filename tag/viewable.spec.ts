/** Viewable impressions that the page tag reports, judged by the real service's records. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../test/support/market.ts'
import { passTime } from './testing/browser.ts'
import { startVisits } from './testing/visit.ts'

const { network, visit, ids } = await startVisits({ after })
const { web } = network
const [first, second] = ids

test('a link is viewable after half of it was in view for a second', async (t) => {
  const before = web.trackers.length
  const { page, quiet, url } = await visit(t, 'scrolling.html')
  await passTime(page, 1_500)
  await quiet()
  assert.deepEqual((await network.recorded(url)).viewable, [first])
  await page.evaluate(async () => {
    document.getElementById('low')?.scrollIntoView()
    await new Promise((done) => setTimeout(done, 300))
    scrollTo(0, 0)
  })
  await quiet()
  assert.deepEqual((await network.recorded(url)).viewable, [first], 'seen too shortly')
  await page.evaluate(() => {
    const low = document.getElementById('low') as HTMLElement
    low.style.cssText = 'display: block; height: 100px'
    scrollTo(0, low.getBoundingClientRect().top + scrollY + 45 - innerHeight)
  })
  await passTime(page, 1_500)
  await quiet()
  assert.deepEqual((await network.recorded(url)).viewable, [first], 'less than half of it')
  await page.evaluate(() =>
    Object.defineProperty(document, 'hidden', { configurable: true, value: true }),
  )
  await page.locator('#low').scrollIntoViewIfNeeded()
  await passTime(page, 1_500)
  await quiet()
  assert.deepEqual((await network.recorded(url)).viewable, [first], 'in a tab behind another')
  await page.evaluate(() => Reflect.deleteProperty(document, 'hidden'))
  await passTime(page, 1_600)
  // The reader leaves before the views are sent: they are sent while leaving.
  await page.goto('about:blank')
  await until(async () => (await network.recorded(url)).viewable.length > 1)
  assert.deepEqual((await network.recorded(url)).viewable, [first, second].sort())
  const viewed = web.trackers.slice(before).filter(({ path }) => path.startsWith('/viewed'))
  assert.equal(viewed.length, 1, 'once per page, though two links name it')
})

test('a link that another tag wraps while in view costs the others no view', async (t) => {
  const { page, quiet, url } = await visit(t, 'late-links.html', async (page) => {
    await page.addInitScript(() => {
      // It wraps our outcome, as other services' tags do.
      addEventListener('souk:auction', ({ target }) => {
        const anchor = target as HTMLAnchorElement
        if (anchor.textContent === 'wrapped') {
          anchor.href = `https://go.elsewhere.example/?url=${encodeURIComponent(anchor.href)}`
        }
      })
      addEventListener('DOMContentLoaded', () => {
        const copy = document.links[0]?.cloneNode(true) as HTMLElement
        copy.textContent = 'wrapped'
        document.links[0]?.after(' ', copy)
      })
    })
  })
  await passTime(page, 1_500)
  await quiet()
  assert.deepEqual((await network.recorded(url)).viewable, [first])
})

test('sees a link without a box where its picture or its content is', async (t) => {
  const before = web.trackers.length
  const { page, quiet, url } = await visit(t, 'no-place.html')
  const seen = () => web.trackers.slice(before).filter(({ path }) => path.startsWith('/viewed'))
  assert.equal(seen().length, 1)
  await passTime(page, 1_500)
  await quiet()
  assert.deepEqual((await network.recorded(url)).viewable, [first, first], 'display: contents')
  await page.locator('img[usemap]').scrollIntoViewIfNeeded()
  await passTime(page, 2_500)
  await quiet()
  assert.deepEqual((await network.recorded(url)).viewable, [first, first, second].sort(), 'area')
})

test('a link that only touches the edge of the screen is not in view, its first line is', async (t) => {
  const before = web.trackers.length
  const seen = () => web.trackers.slice(before).filter(({ path }) => path.startsWith('/viewed'))
  const { page, quiet } = await visit(t, 'at-the-edge.html')
  await passTime(page, 500)
  await quiet()
  assert.equal(seen().length, 0)
  await page.evaluate(() => scrollTo(0, 1))
  await until(async () => seen().length > 0)
  assert.equal(seen().length, 1)
})

test('a link with an empty box, whose content floats, is in view where that box is', async (t) => {
  const before = web.trackers.length
  const { quiet } = await visit(t, 'at-the-edge.html', async (page) => {
    await page.addInitScript(() =>
      addEventListener('DOMContentLoaded', () => {
        const [screen, edge] = ['screen', 'edge'].map((id) => document.getElementById(id))
        screen?.remove()
        edge?.setAttribute('style', '')
        edge?.firstElementChild?.setAttribute('style', 'float: left')
      }),
    )
  })
  await quiet()
  const seen = web.trackers.slice(before).filter(({ path }) => path.startsWith('/viewed'))
  assert.equal(seen.length, 1)
})

test('reports every viewed link when more are in view than one call may carry', async (t) => {
  const { page, quiet, url } = await visit(t, 'scrolling.html')
  await page.evaluate(() => {
    const [link] = document.links
    for (let at = 0; at < 199; at++) link?.after(' ', link.cloneNode(true))
  })
  await passTime(page, 4_000)
  await quiet()
  const { links, viewable } = await network.recorded(url)
  assert.deepEqual([links.length, viewable.length], [201, 200])
})
