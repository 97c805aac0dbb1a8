import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { MODEL, type StoredEvent } from '../events/event.ts'
import { REASON, reasonName } from '../events/reason.ts'
import { type ClickHistory, judgeClicks } from './judge-clicks.ts'

const MINUTE_MS = 60_000
const NOTHING: ClickHistory = {
  reservedResults: new Set(),
  validClicks: [],
  leaseRests: new Map(),
}
const reader = Buffer.alloc(16, 7)
const events = new MoneyEvents()

/** A CPC click of the reader on a separate link, unless given otherwise. */
function click(name: string, atMs: number, fields: Partial<StoredEvent> = {}): StoredEvent {
  const cpc = { model: MODEL.cpc, termsAmount: 542_235, sharePpm: 750_000, visitorKey: reader }
  const auctionId = `9200000000000000${name.charCodeAt(0)}`
  return events.click(name, START_MS + atMs, { ...cpc, auctionId, ...fields })
}

const reasons = (clicks: readonly StoredEvent[], history = NOTHING) =>
  judgeClicks(clicks, history).map(({ reason }) => reasonName(reason))

test('a reader who clicks a link again is paid for again after 30 minutes, to the millisecond', () => {
  const again = (ageMs: number, fields = {}) =>
    reasons([click('a', 0), click('a2', ageMs, { ...fields })])[1]
  assert.equal(again(30 * MINUTE_MS - 1), 'duplicate_visitor')
  assert.equal(again(30 * MINUTE_MS), 'ok')
  assert.equal(
    again(-30 * MINUTE_MS + 1),
    'duplicate_visitor',
    'reported by a node whose clock lags',
  )
  assert.equal(again(-30 * MINUTE_MS), 'ok')
  assert.equal(again(1, { auctionId: '9007199254740993' }), 'ok', 'another link')
  assert.equal(again(1, { campaignId: 2 }), 'ok', 'another campaign')
  assert.equal(again(1, { visitorKey: Buffer.alloc(16, 8) }), 'ok', 'another reader')
  assert.equal(again(1, { visitorKey: null }), 'ok', 'who is nobody in particular repeats nothing')
})

test('a reader’s sixth click on a campaign within an hour is not paid, whatever the link', () => {
  const five = ['a', 'b', 'c', 'd', 'e'].map((name, index) => click(name, index))
  const sixth = (atMs: number, fields = {}) => reasons([...five, click('f', atMs, fields)]).at(-1)
  assert.deepEqual(new Set(reasons(five)), new Set(['ok']))
  assert.equal(sixth(60 * MINUTE_MS - 1), 'visitor_limit')
  assert.equal(sixth(60 * MINUTE_MS), 'ok', 'the first is an hour old')
  assert.equal(sixth(-60 * MINUTE_MS + 5), 'visitor_limit', 'reported by a node whose clock lags')
  assert.equal(sixth(-60 * MINUTE_MS + 4), 'ok', 'the fifth came an hour later')
  assert.equal(sixth(9, { campaignId: 2 }), 'ok')
  assert.equal(sixth(9, { visitorKey: null }), 'ok')
  // Only valid clicks count: neither the robot's nor the repeated one uses up the hour.
  const wasted = [click('a', 1, { reason: REASON.robot }), click('a3', 2)]
  const [one, ...rest] = five as [StoredEvent, ...StoredEvent[]]
  assert.equal(reasons([one, ...wasted, ...rest.slice(1), click('f', 9)]).at(-1), 'ok')
})

test('unpaid links are not a separate campaign: all clicks on them count', () => {
  const unpaid = { campaignId: null, model: MODEL.none, termsAmount: 0 }
  const clicks = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, at) => click(name, at, unpaid))
  assert.deepEqual(new Set(reasons(clicks)), new Set(['ok']))
  assert.equal(reasons([...clicks, click('a2', 9, unpaid)]).at(-1), 'duplicate_visitor')
})

const address = Buffer.alloc(16, 1)
const agent = Buffer.alloc(16, 2)
/** A reader whose browser has our cookie not yet: only its address and user agent are known. */
const newcomer = (visitor: number | null) => ({
  visitorKey: visitor === null ? null : Buffer.alloc(16, visitor),
  ...{ visitorReturned: 0, addressKey: address, agentKey: agent },
  ...{ addressHourMax: 10, addressDayMax: 50 },
})
const returning = (visitor: number) => ({ ...newcomer(visitor), visitorReturned: 1 })

test('without a returned cookie, one address and user agent is one reader of a link for 30 minutes', () => {
  const after = (ageMs: number, first: object, second: object) =>
    reasons([click('a', 0, first), click('a2', ageMs, second)])[1]
  assert.equal(after(250, newcomer(8), newcomer(9)), 'duplicate_visitor', 'a double click')
  assert.equal(after(250, newcomer(null), newcomer(null)), 'duplicate_visitor', 'under GPC')
  assert.equal(after(30 * MINUTE_MS - 1, newcomer(8), newcomer(9)), 'duplicate_visitor')
  assert.equal(after(30 * MINUTE_MS, newcomer(8), newcomer(9)), 'ok')
  assert.equal(
    after(250, newcomer(8), returning(8)),
    'duplicate_visitor',
    'the cookie was returned',
  )
  assert.equal(after(250, returning(8), newcomer(9)), 'duplicate_visitor', 'a reader who lost it')
  assert.equal(after(250, newcomer(8), returning(9)), 'ok', 'two readers behind one address')
  const other = { ...newcomer(9), agentKey: Buffer.alloc(16, 3) }
  assert.equal(after(250, newcomer(8), other), 'ok', 'another user agent')
  const local = { agentKey: null }
  assert.equal(after(250, { ...newcomer(8), ...local }, { ...newcomer(9), ...local }), 'ok')
})

test('the hourly limit of a reader applies if its cookie is never returned', () => {
  const clicks = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) =>
    click(name, index * MINUTE_MS, newcomer(20 + index)),
  )
  const five = Array.from({ length: 5 }, () => 'ok')
  assert.deepEqual(reasons(clicks), [...five, 'visitor_limit'])
})

test('without a returned cookie, three clicks in 10 seconds are paid, over all links and campaigns', () => {
  const three = ['a', 'b', 'c'].map((name, index) =>
    click(name, index, { ...newcomer(20 + index), campaignId: index + 1, pubId: index + 1 }),
  )
  const fourth = (atMs: number, fields: object = newcomer(29)) =>
    reasons([...three, click('d', atMs, { campaignId: 9, ...fields })]).at(-1)
  assert.equal(fourth(9_999), 'scanner')
  assert.equal(fourth(-9_997), 'scanner', 'reported by a node whose clock lags')
  assert.equal(fourth(10_000), 'ok', 'the first is 10 seconds old')
  assert.equal(fourth(5, returning(8)), 'ok', 'its cookie was returned')
  assert.equal(fourth(5, { ...newcomer(29), agentKey: Buffer.alloc(16, 3) }), 'ok')
  const cookies = three.map((event) => ({ ...event, visitorReturned: 1 }))
  assert.equal(reasons([...cookies, click('d', 5, newcomer(29))]).at(-1), 'ok', 'of readers known')
})

test('an address unit has at most the campaign’s clicks of an hour and of 24 hours paid', () => {
  const limits = { addressHourMax: 2, addressDayMax: 3 }
  const other = (place: number) => ({
    ...{ ...returning(30 + place), agentKey: Buffer.alloc(16, 50 + place), ...limits },
    auctionId: `9300000000000000${place}`,
  })
  const at = (hours: readonly number[], fields: object = {}) =>
    reasons(
      hours.map((hour, place) =>
        click(`x${place}`, hour * 60 * MINUTE_MS, { ...other(place), ...fields }),
      ),
    )
  assert.deepEqual(at([0, 0, 0.9]), ['ok', 'ok', 'address_limit'])
  assert.deepEqual(at([0, 0, 1]), ['ok', 'ok', 'ok'])
  assert.deepEqual(at([0, 2, 4, 23.9, 24]), ['ok', 'ok', 'ok', 'address_limit', 'ok'])
  assert.deepEqual(at([0, 0, 0], { agentKey: null }), ['ok', 'ok', 'ok'], 'a local address')
  const campaigns = [0, 1, 2].map((place) =>
    click(`y${place}`, place, { ...other(place), campaignId: place + 1 }),
  )
  assert.deepEqual(reasons(campaigns), ['ok', 'ok', 'ok'], 'each on another campaign')
  const nobody = { campaignId: null, addressHourMax: null, addressDayMax: null }
  assert.deepEqual(at([0, 0, 0], nobody), ['ok', 'ok', 'ok'], 'links that nobody pays for')
})

test('what came before the batch counts as if it stood in it', () => {
  const [before, now] = [click('a', 0), click('a2', MINUTE_MS)]
  const visit = {
    visitorKey: reader.toString('hex'),
    ...{ agentKey: null, addressKey: null, isVisitorReturned: true },
    campaignId: before.campaignId ?? 0,
    auctionId: before.auctionId ?? '',
    atMs: before.atMs,
  }
  assert.deepEqual(reasons([now], { ...NOTHING, validClicks: [visit] }), ['duplicate_visitor'])
  const result = before.resultNumber?.toString('hex') ?? ''
  const history = { ...NOTHING, reservedResults: new Set([result]) }
  assert.deepEqual(reasons([before], history), ['duplicate_result'])
})

test('of a result the first reserved click is paid; one refused before does not stand for it', () => {
  const nobody = { visitorKey: null }
  const first = click('a', 0, { ...nobody, reason: REASON.tooFast })
  const { resultNumber } = first
  const clicks = [first, click('b', 1, { ...nobody, resultNumber })]
  const judged = judgeClicks([...clicks, click('c', 2, { ...nobody, resultNumber })], NOTHING)
  assert.deepEqual(
    judged.map(({ reason, isReserved, merchantCostMicros, publisherEarningsMicros }) => [
      reasonName(reason),
      isReserved,
      merchantCostMicros,
      publisherEarningsMicros,
    ]),
    [
      ['too_fast', false, 0, 0],
      ['ok', true, 542_235, 406_676],
      ['duplicate_result', false, 0, 0],
    ],
  )
})

test('a click behind the end of its lease is unpaid, and no later one of its result is paid', () => {
  const late = click('a', 0, { leaseId: '5' })
  const { resultNumber } = late
  const again = click('b', 1, { resultNumber, visitorKey: null })
  const lateAgain = click('d', 2, { resultNumber, leaseId: '5' })
  const history = { ...NOTHING, leaseRests: new Map([['6', 0]]) }
  assert.deepEqual(reasons([late, again, lateAgain], history), [
    'spooled_late',
    ...['duplicate_result', 'duplicate_result'],
  ])
  assert.deepEqual(reasons([click('c', 2, { leaseId: '6' })], history), ['ok'], 'its own is open')
})

test('a lease that clicks ask more of than it has ends with the first of them', () => {
  const clicks = [40, 50, 60, 10].map((reservedMicros, place) =>
    click('abcd'.charAt(place), place, { leaseId: '6', reservedMicros, visitorKey: null }),
  )
  const history = { ...NOTHING, leaseRests: new Map([['6', 100]]) }
  assert.deepEqual(
    judgeClicks(clicks, history).map(({ reason, isLate }) => [reasonName(reason), isLate]),
    [
      ['ok', false],
      ['ok', false],
      ['spooled_late', true],
      ['spooled_late', true],
    ],
  )
})

test('a click of a campaign that pays per order is valid and costs nothing yet', () => {
  const [judged] = judgeClicks([click('a', 0, { model: MODEL.cpa })], NOTHING)
  assert.deepEqual(
    [judged?.reason, judged?.isReserved, judged?.merchantCostMicros],
    [REASON.ok, true, 0],
  )
})
