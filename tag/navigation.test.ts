/**
 * Which changes count as another article, without a browser: page-tag.spec.ts tries real
 * navigations.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchPage } from './navigation.ts'

const HERE = 'https://news.example/article'

function openPage(t: TestContext, { hasNavigationApi = true } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10_000 })
  const define = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { configurable: true, value })
  const events = new EventTarget()
  const navigation = new EventTarget()
  const location = { href: HERE }
  let change = (): void => assert.fail('nothing watches the page')
  define('location', location)
  define('document', events)
  define('window', hasNavigationApi ? { navigation } : {})
  define('addEventListener', events.addEventListener.bind(events))
  define(
    'MutationObserver',
    class {
      constructor(look: () => void) {
        change = look
      }
      observe(of: unknown, what: object) {
        const watched = { attributeFilter: ['href'], childList: true, subtree: true }
        assert.deepEqual([of, what], [events, watched])
      }
    },
  )
  const heard: string[] = []
  watchPage(
    (isScroll) => heard.push(isScroll ? 'land by scrolling' : 'land'),
    () => heard.push('scan'),
  )
  /** What the tag does once the page has settled. */
  const settled = (ms = 200): string[] => {
    t.mock.timers.tick(ms)
    return heard.splice(0)
  }
  return { location, events, navigation, settled, change: () => change() }
}

test('a URL is another article unless only its tracking or scroll position differs', (t) => {
  const { location, change, settled } = openPage(t)
  for (const [from, to, done] of [
    ['', '', 'scan'],
    ['', '#top', 'scan'],
    ['#a', '#b', 'scan'],
    ['', '?utm_source=mail&utm_medium=x', 'scan'],
    ['?id=1', '?utm_source=mail&id=1', 'scan'],
    ['?id=1', '?id=1&gclid=x&fbclid=y&msclkid=z', 'scan'],
    ['', '?gclid=x#top', 'scan'],
    ['', '?', 'scan'],
    ['', '/', 'scan'],
    ['/', '?utm_source=mail', 'scan'],
    ['/?id=1', '?id=1&utm_source=mail', 'scan'],
    ['?mc_cid=1&mc_eid=2', '', 'scan'],
    ['/2/', '/2', 'scan'],
    ['/1/2', '/12', 'land'],
    ['', '/2', 'land'],
    ['', '?id=1', 'land'],
    ['?id=1', '?id=2', 'land'],
    ['', '#/path', 'land'],
    ['#/path', '#/other', 'land'],
    ['', '#!path', 'land'],
    ['#!path', '', 'land'],
  ]) {
    location.href = HERE + from
    change()
    settled()
    location.href = HERE + to
    change()
    assert.deepEqual(settled(), [done], `${from} → ${to}`)
  }
})

test('collects changes for a fifth of a second, then scans once', (t) => {
  const { change, settled } = openPage(t)
  change()
  assert.deepEqual(settled(150), [])
  change()
  assert.deepEqual(settled(49), [])
  assert.deepEqual(settled(1), ['scan'])
  assert.deepEqual(settled(1_000), [])
  change()
  assert.deepEqual(settled(), ['scan'])
})

test('notices a change of the URL with the Navigation API and without it', (t) => {
  for (const [hasNavigationApi, change] of [
    [true, ({ navigation }) => navigation.dispatchEvent(new Event('currententrychange'))],
    [true, ({ events }) => events.dispatchEvent(new Event('popstate'))],
    [false, ({ events }) => events.dispatchEvent(new Event('popstate'))],
    [false, ({ change }) => change()],
  ] as [boolean, (page: ReturnType<typeof openPage>) => unknown][]) {
    const page = openPage(t, { hasNavigationApi })
    page.location.href = `${HERE}/2`
    change(page)
    assert.deepEqual(page.settled(), ['land'])
    t.mock.timers.reset()
  }
})

test('lands at once on a page from the back/forward cache, but not at a first load', (t) => {
  const { events, settled } = openPage(t)
  events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }))
  assert.deepEqual(settled(0), [])
  events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
  assert.deepEqual(settled(0), ['land'])
})

test('treats a URL that changes soon after a scroll as scrolled to', (t) => {
  const { location, events, change, settled } = openPage(t)
  const move = (path: string): string[] => {
    location.href = HERE + path
    change()
    return settled()
  }
  assert.deepEqual(move('/2'), ['land'])
  events.dispatchEvent(new Event('scroll'))
  assert.deepEqual(move('/3'), ['land by scrolling'])
  t.mock.timers.tick(1_500)
  assert.deepEqual(move('/4'), ['land'])
})
