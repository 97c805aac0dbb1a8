/** The queue's own rules, with a network that answers when the test says so. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Job, makeQueue, REPEATS } from './request-queue.ts'
import { holdFetches } from './testing/held-fetches.ts'

function openQueue(t: TestContext) {
  const { sent, after, answer } = holdFetches(t)
  const beacons: unknown[] = []
  const define = (target: object, name: string, value: unknown) =>
    Object.defineProperty(target, name, { configurable: true, value })
  define(navigator, 'sendBeacon', (...beacon: unknown[]) => beacons.push(beacon))
  const images: { src: string; style: object; onload?: () => void }[] = []
  define(globalThis, 'Image', function image() {
    return { style: {} }
  })
  define(globalThis, 'document', {
    body: { appendChild: (image: (typeof images)[number]) => void images.push(image) },
  })
  const queue = makeQueue()
  const urls = () => sent.map(({ url }) => url)
  return { queue, sent, urls, beacons, images, after, answer }
}

const ask = (url: string, more: Partial<Job> = {}): Job => ({
  _url: url,
  _done: () => undefined,
  ...more,
})

const report = (url: string): Job => ({ _url: url, _body: '{}' })

test('has two auctions, one report and one pixel open at a time, in the order they were added', async (t) => {
  const { queue, urls, images, sent, after } = openQueue(t)
  for (const url of ['/1', '/2', '/3']) queue._add(ask(url))
  for (const url of ['/report 1', '/report 2']) queue._add(report(url))
  for (const url of ['/pixel 1', '/pixel 2']) queue._add({ _url: url })
  const pixels = () => images.map(({ src }) => src)
  assert.deepEqual([urls(), pixels()], [['/1', '/2', '/report 1'], ['/pixel 1']])
  images[0]?.onload?.()
  for (const { answer } of sent.slice()) answer(200)
  await after(0)
  await after(0)
  assert.deepEqual(urls().slice(3).toSorted(), ['/3', '/report 2'])
  assert.deepEqual(pixels(), ['/pixel 1', '/pixel 2'])
})

test('failing or hanging reports and pixels delay no auction', async (t) => {
  for (const status of [0, 503, null]) {
    const { queue, sent, urls, after } = openQueue(t)
    for (let at = 0; at < 9; at++) queue._add({ ...report(`/report ${at}`), _again: REPEATS })
    for (let at = 0; at < 9; at++) queue._add({ _url: `/pixel ${at}` })
    for (let round = 0; round < 4; round++) {
      if (status !== null) sent.at(-1)?.answer(status)
      await after(8_000)
    }
    queue._add(ask('/asked'))
    assert.equal(urls().at(-1), '/asked', String(status))
    t.mock.reset()
  }
})

test('an image that never loads gives its place up after eight seconds', async (t) => {
  const { queue, images, after } = openQueue(t)
  for (const url of ['/p1', '/p2']) queue._add({ _url: url })
  await after(0)
  await after(7_999)
  assert.equal(images.length, 1)
  await after(1)
  await after(0)
  assert.equal(images.length, 2)
})

test('no request carries cookies; a report is text that outlives the page', async (t) => {
  const { queue, sent, answer } = openQueue(t)
  queue._add(ask('/asked'))
  queue._add({ _url: '/report', _body: '{}' })
  await answer(200)
  queue._add(ask('/asked-with', { _body: '[]' }))
  assert.deepEqual(
    sent.map(({ url, method, body, keepalive, credentials }) => [
      ...[url, method, body, keepalive, credentials],
    ]),
    [
      ['/asked', undefined, undefined, false, 'omit'],
      ['/report', 'POST', '{}', true, 'omit'],
      ['/asked-with', 'POST', '[]', false, 'omit'],
    ],
  )
  for (const { headers, signal } of sent) {
    assert.equal(headers, undefined, 'text/plain, which needs no preflight')
    assert.ok(signal instanceof AbortSignal)
  }
})

test('repeats a request that counts once after a failure, with growing pauses, until an answer', async (t) => {
  for (const status of [0, 429, 500, 503]) {
    const { queue, sent, after, answer } = openQueue(t)
    queue._add(ask('/1', { _again: REPEATS }))
    for (const pauseMs of [1_000, 2_000, 4_000]) {
      const before = sent.length
      await answer(status)
      await after(pauseMs - 1)
      assert.equal(sent.length, before, `${status}: too soon`)
      await after(1)
      assert.equal(sent.length, before + 1, `${status}: not again after ${pauseMs} ms`)
    }
    await answer(status)
    await after(60_000)
    assert.equal(sent.length, 1 + REPEATS)
    t.mock.reset()
  }
  for (const [status, again] of [
    [503, undefined],
    [200, REPEATS],
    [400, REPEATS],
    [428, REPEATS],
  ] as const) {
    const { queue, sent, after, answer } = openQueue(t)
    queue._add(ask('/1', { _again: again }))
    await answer(status)
    await after(60_000)
    assert.equal(sent.length, 1, `${status}`)
    t.mock.reset()
  }
})

test('four failures in a row stop all requests until the next page; a success resets the count', async (t) => {
  const { queue, sent, after, answer } = openQueue(t)
  const fail = async (times: number) => {
    for (let time = 0; time < times; time++) {
      await answer(500)
      await after(8_000)
    }
  }
  for (let at = 0; at < 20; at++) queue._add(ask(`/${at}`))
  await answer(200)
  await fail(3)
  await answer(200)
  await fail(2)
  const asked = sent.length
  await fail(1)
  assert.ok(sent.length > asked, 'the sixth failure is the third in a row')
  const before = sent.length
  await fail(1)
  queue._add(ask('/more'))
  await after(60_000)
  assert.ok(sent.length <= before + 1, `${sent.length - before} after the fourth`)
  queue._flush()
  queue._add(ask('/next page'))
  assert.equal(sent.at(-1)?.url, '/next page')
})

test('reads only a good answer; an unreadable one is a failure', async (t) => {
  const { queue, sent, after, answer } = openQueue(t)
  const read: unknown[] = []
  queue._add(ask('/1', { _done: (body) => read.push(body) }))
  await answer(404)
  assert.equal(read.length, 0)
  queue._add(ask('/2', { _done: (body) => read.push(body) }))
  await answer(200)
  assert.deepEqual(read, [{}])
  const refuse = () => {
    throw new Error('no answer')
  }
  queue._add(ask('/3', { _done: refuse, _again: 1 }))
  await answer(200)
  await after(1_000)
  assert.deepEqual([sent.length, sent.at(-1)?.url], [4, '/3'])
  await answer(200)
  await after(60_000)
  assert.equal(sent.length, 4, 'once more, as it may be')
})

test('when the reader leaves, hands over waiting reports and drops auctions', async (t) => {
  const { queue, urls, beacons, answer } = openQueue(t)
  for (const url of ['/1', '/2', '/asked']) queue._add(ask(url))
  queue._add(ask('/asked-with', { _body: '{}' }))
  for (const at of [1, 2]) queue._add({ _url: `/report ${at}`, _body: `{"a":${at}}` })
  for (const at of [1, 2]) queue._add({ _url: `/pixel ${at}` })
  queue._flush()
  assert.deepEqual(beacons, [['/report 2', '{"a":2}']])
  await answer(200)
  assert.deepEqual(urls(), ['/1', '/2', '/report 1'])
})

test('a browser without beacons ends a page like any other', (t) => {
  const { queue } = openQueue(t)
  Object.defineProperty(navigator, 'sendBeacon', { configurable: true, value: undefined })
  for (const url of ['/1', '/2', '/report']) queue._add({ _url: url, _body: '{}' })
  assert.doesNotThrow(() => queue._flush())
})
