/** Delivery of an order from the browser, with a network that answers when the test says so. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openOutbox, readList, writeList } from './outbox.ts'
import { holdFetches } from './testing/held-fetches.ts'

const URL_OF_ORDERS = 'https://souk.example/orders'

/** A browser's storage, or one that forbids access. */
function setStorage(kept: Map<string, string> | null): void {
  const forbid = () => {
    throw new DOMException('no', 'SecurityError')
  }
  const value =
    kept === null
      ? { getItem: forbid, setItem: forbid }
      : {
          getItem: (key: string) => kept.get(key) ?? null,
          setItem: (key: string, text: string) => void kept.set(key, text),
        }
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, value })
}

function openBrowser(t: TestContext, kept: Map<string, string> | null = new Map()) {
  setStorage(kept)
  const { sent, after, answer } = holdFetches(t)
  const bodies = () => sent.map(({ body }) => body)
  const waiting = () => JSON.parse(kept?.get(`souk_outbox ${URL_OF_ORDERS}`) ?? '[]')
  return { sent, bodies, waiting, after, answer }
}

test('sends an order without cookies or preflight, by a request that outlives the page', (t) => {
  const { sent } = openBrowser(t)
  openOutbox(URL_OF_ORDERS)('1')
  const [{ answer: _, ...call } = {}, ...more] = sent
  const expected = { url: URL_OF_ORDERS, method: 'POST', body: '1' }
  assert.deepEqual([call, more], [{ ...expected, keepalive: true, credentials: 'omit' }, []])
})

test('sends orders one at a time and keeps each until it is answered', async (t) => {
  const { bodies, waiting, answer } = openBrowser(t)
  const post = openOutbox(URL_OF_ORDERS)
  for (const body of ['1', '2']) post(body)
  assert.deepEqual([bodies(), waiting()], [['1'], ['1', '2']])
  await answer(201)
  assert.deepEqual([bodies(), waiting()], [['1', '2'], ['2']])
  await answer(400)
  assert.deepEqual([bodies(), waiting()], [['1', '2'], []], 'a refusal is an answer')
})

test('tries four times with growing pauses, and again from the next page', async (t) => {
  for (const status of [0, 429, 500]) {
    const kept = new Map<string, string>()
    const { sent, waiting, after, answer } = openBrowser(t, kept)
    openOutbox(URL_OF_ORDERS)('1')
    for (const pauseMs of [2_000, 4_000, 8_000]) {
      const before = sent.length
      await answer(status)
      await after(pauseMs - 1)
      assert.equal(sent.length, before, `${status}: too soon`)
      await after(1)
      assert.equal(sent.length, before + 1, `${status}: not again after ${pauseMs} ms`)
    }
    await answer(status)
    await after(600_000)
    assert.deepEqual([sent.length, waiting()], [4, ['1']])
    openOutbox(URL_OF_ORDERS)
    assert.equal(sent.length, 5)
    await answer(201)
    assert.deepEqual(waiting(), [])
    t.mock.reset()
  }
})

test('an answer restarts the retries for the next order', async (t) => {
  const { sent, after, answer } = openBrowser(t)
  const post = openOutbox(URL_OF_ORDERS)
  for (const body of ['1', '2']) post(body)
  for (const status of [500, 500, 500, 201, 500, 500, 500, 201]) {
    await answer(status)
    await after(8_000)
  }
  assert.equal(sent.length, 8)
})

test('keeps the newest five orders while the service is away for long', (t) => {
  const { waiting } = openBrowser(t)
  const post = openOutbox(URL_OF_ORDERS)
  for (let at = 1; at <= 7; at++) post(String(at))
  assert.deepEqual(waiting(), ['3', '4', '5', '6', '7'])
})

test('keeps an order that another tab stored until it is answered', async (t) => {
  const { waiting, bodies, answer } = openBrowser(t)
  const [one, other] = [openOutbox(URL_OF_ORDERS), openOutbox(URL_OF_ORDERS)]
  one('1')
  other('2')
  assert.deepEqual(waiting(), ['1', '2'])
  await answer(201)
  assert.deepEqual([bodies(), waiting()], [['1', '2'], ['1']])
})

test('without storage an order lives as long as its page', async (t) => {
  const { bodies, after, answer } = openBrowser(t, null)
  openOutbox(URL_OF_ORDERS)('1')
  await answer(503)
  await after(2_000)
  assert.deepEqual(bodies(), ['1', '1'])
  writeList('any', ['1'])
  assert.deepEqual(readList('any'), [])
  setStorage(new Map([['any', 'no JSON']]))
  assert.deepEqual(readList('any'), [])
})
