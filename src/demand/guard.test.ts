import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evenly } from '../../test/even-numbers.ts'
import fc from '../../test/fast-check.ts'
import { ClickAges, guardMicros, WinWindow } from './guard.ts'

const MINUTE = 60_000

test('the worked example keeps back $4.70: 200 wins at 3 %, $0.35 a click', () => {
  const guard = guardMicros(
    { expectedClicks: 6, openWins: 200 },
    { clickRate: 0.03, priceMicros: 350_000 },
  )
  // 2.10 + 1.97 + 0.63; the document rounds each term.
  assert(Math.abs(guard - 4_700_000) < 10_000, String(guard))
})

test('with no win in flight nothing is kept back, and never more than all of them clicked', () => {
  fc.assert(
    fc.property(fc.nat(10_000), evenly(0, 1), (wins, clickRate) => {
      const inFlight = { expectedClicks: wins * clickRate, openWins: wins }
      const guard = guardMicros(inFlight, { clickRate, priceMicros: 100 })
      assert(guard <= wins * 100)
      assert(guard >= Math.floor(wins * clickRate * 100))
    }),
  )
  assert.equal(
    guardMicros({ expectedClicks: 0, openWins: 0 }, { clickRate: 0.03, priceMicros: 100 }),
    0,
  )
})

test('the guard grows with the wins in flight', () => {
  fc.assert(
    fc.property(fc.nat(5_000), fc.nat(50), (wins, more) => {
      const at = (openWins: number) =>
        guardMicros(
          { expectedClicks: 0.05 * openWins, openWins },
          { clickRate: 0.05, priceMicros: 1_000 },
        )
      assert(at(wins + more) >= at(wins))
    }),
  )
})

test('wins count for half an hour, and a click answers one of them', () => {
  const window = new WinWindow()
  const start = 1_000 * MINUTE
  window.countWin(start)
  window.countWin(start + MINUTE)
  window.countClick(start + 2 * MINUTE)
  assert.equal(window.openWins, 1)
  window.advance(start + 29 * MINUTE)
  assert.equal(window.openWins, 1)
  window.advance(start + 33 * MINUTE)
  assert.equal(window.openWins, 0)
})

test('more clicks than wins (links clicked without a page) are no negative promise', () => {
  const window = new WinWindow()
  for (let click = 0; click < 500; click++) window.countClick(MINUTE)
  assert.equal(window.openWins, 0)
  assert(window.clickRate > 0 && window.clickRate < 1)
})

test('wins that were clicked, all of them, promise no more clicks', () => {
  const window = new WinWindow()
  window.countWin(MINUTE)
  window.countWin(MINUTE)
  window.countClick(MINUTE)
  assert(window.expectedClicks(new ClickAges()) > 0)
  window.countClick(MINUTE)
  assert.equal(window.expectedClicks(new ClickAges()), 0)
})

test('a clock that goes back loses no win, and keeps none for longer than half an hour', () => {
  const window = new WinWindow()
  window.countWin(100 * MINUTE)
  window.countWin(90 * MINUTE)
  assert.equal(window.openWins, 2)
  window.advance(120 * MINUTE)
  assert.equal(window.openWins, 0)
  window.countWin(50 * MINUTE)
  window.advance(80 * MINUTE)
  assert.equal(window.openWins, 0)
})

test('a request of the minute before takes nothing out of the window', () => {
  const window = new WinWindow()
  window.countWin(100 * MINUTE)
  window.countWin(99 * MINUTE)
  window.advance(100 * MINUTE)
  assert.equal(window.openWins, 2)
})

test('the click rate starts at 3 % and follows what is seen', () => {
  const window = new WinWindow()
  assert(Math.abs(window.clickRate - 0.03) < 1e-12)
  for (let win = 0; win < 1_000; win++) window.countWin(MINUTE)
  for (let click = 0; click < 200; click++) window.countClick(MINUTE)
  assert(window.clickRate > 0.15 && window.clickRate < 0.2, String(window.clickRate))
})

test('an old win promises less, by the ages at which readers click', () => {
  const ages = new ClickAges()
  const window = new WinWindow()
  for (let win = 0; win < 100; win++) window.countWin(100 * MINUTE)
  const all = 100 * window.clickRate // Of a win of this minute any click may still come.
  assert(Math.abs(window.expectedClicks(ages) - all) < 1e-9)
  // Before any click was seen they are taken to come evenly over the half hour.
  window.advance(110 * MINUTE)
  assert(Math.abs(window.expectedClicks(ages) - (all * 20) / 30) < 0.01)
  window.advance(115 * MINUTE)
  const half = 50 * window.clickRate
  assert(Math.abs(window.expectedClicks(ages) - half) < 1e-9)
  for (let click = 0; click < 1_000; click++) ages.count(20_000)
  assert(window.expectedClicks(ages) < 0.1, String(window.expectedClicks(ages)))
  ages.count(-1)
  ages.count(31 * MINUTE)
  assert(ages.shareFrom(0) === 1 && ages.shareFrom(30) === 0)
})

test('a promise is rounded up to the micro', () => {
  const inFlight = { expectedClicks: 1, openWins: 10 }
  // 1 + 2.33 + 2.33² / 3 = 5.14 clicks.
  assert.equal(guardMicros(inFlight, { clickRate: 0, priceMicros: 1 }), 6)
})

test('a win counts until its minute is half an hour old, to the millisecond', () => {
  const window = new WinWindow()
  window.countWin(100 * MINUTE)
  window.advance(130 * MINUTE - 1)
  assert.equal(window.openWins, 1)
  window.advance(130 * MINUTE)
  assert.equal(window.openWins, 0)
  window.countWin(131 * MINUTE - 1)
  for (let minute = 131; minute < 160; minute++) window.advance(minute * MINUTE)
  assert.equal(window.openWins, 1)
  window.advance(160 * MINUTE)
  assert.equal(window.openWins, 0)
})

test('a click stops answering a win when it is half an hour old itself', () => {
  const window = new WinWindow()
  window.countClick(100 * MINUTE)
  window.countClick(120 * MINUTE)
  for (let win = 0; win < 3; win++) window.countWin(120 * MINUTE)
  assert.equal(window.openWins, 1)
  window.advance(130 * MINUTE)
  assert.equal(window.openWins, 2)
  window.advance(150 * MINUTE)
  assert.equal(window.openWins, 0)
})

test('what fell out of the window leaves no trace in it', () => {
  const window = new WinWindow()
  for (const start of [100, 130, 160]) {
    window.countWin(start * MINUTE)
    window.countWin(start * MINUTE)
    window.countClick(start * MINUTE)
    assert.equal(window.openWins, 1)
  }
})

test('a hundred wins outvote the first guess by half, and a day old count half', () => {
  const near = (window: WinWindow, rate: number) =>
    assert(Math.abs(window.clickRate - rate) < 1e-12, String(window.clickRate))
  const [unclicked, clicked] = [new WinWindow(), new WinWindow()]
  for (let win = 0; win < 100; win++) {
    unclicked.countWin(MINUTE)
    clicked.countWin(MINUTE)
    if (win % 2 === 0) clicked.countClick(MINUTE)
  }
  near(unclicked, 3 / 200)
  near(clicked, 53 / 200)
  for (const window of [unclicked, clicked]) window.advance(1441 * MINUTE)
  near(unclicked, 3 / 150)
  near(clicked, 28 / 150)
})

test('ages are counted by whole minutes, under half an hour, against thirty even clicks', () => {
  const shares = (...agesMs: number[]) => {
    const ages = new ClickAges()
    for (const ageMs of agesMs) ages.count(ageMs)
    return [0, 1, 2, 29, 30].map((minute) => ages.shareFrom(minute))
  }
  assert.deepEqual(shares(), [1, 29 / 30, 28 / 30, 1 / 30, 0])
  assert.deepEqual(shares(MINUTE - 1), [1, 29 / 31, 28 / 31, 1 / 31, 0])
  assert.deepEqual(shares(MINUTE), [1, 30 / 31, 28 / 31, 1 / 31, 0])
  assert.deepEqual(shares(30 * MINUTE - 1), [1, 30 / 31, 29 / 31, 2 / 31, 0])
  assert.deepEqual(shares(30 * MINUTE, -1), shares())
})

test('of more than twenty thousand ages the old ones count half', () => {
  const ages = new ClickAges()
  for (let click = 0; click < 19_970; click++) ages.count(0)
  const lastAfter = (ageMs: number) => {
    ages.count(ageMs)
    return ages.shareFrom(29)
  }
  assert(Math.abs(lastAfter(29 * MINUTE) - 1 / 10_000.5) < 1e-12)
  assert(Math.abs(lastAfter(29 * MINUTE) - 2 / 10_001.5) < 1e-12)
  assert.equal(ages.shareFrom(0), 1)
})

test('all clicks of a minute leave the window with it', () => {
  const window = new WinWindow()
  for (let win = 0; win < 9; win++) window.countWin(100 * MINUTE)
  for (let click = 0; click < 4; click++) window.countClick(99 * MINUTE) // a clock that lags
  for (let win = 0; win < 5; win++) window.countWin(110 * MINUTE)
  assert.equal(window.openWins, 10)
  window.advance(130 * MINUTE)
  assert.equal(window.openWins, 5, 'neither the nine wins nor the four clicks count any more')
})
