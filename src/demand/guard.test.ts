import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { guardMicros, WinWindow } from './guard.ts'

const MINUTE = 60_000

test('the worked example keeps back $4.70: 200 wins at 3 %, $0.35 a click', () => {
  const guard = guardMicros(200, { clickRate: 0.03, priceMicros: 350_000 })
  // 2.10 + 1.97 + 0.63; the document rounds each term.
  assert(Math.abs(guard - 4_700_000) < 10_000, String(guard))
})

test('with no win in flight nothing is kept back, and never more than all of them clicked', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.double({ min: 0, max: 1, noNaN: true }), (wins, clickRate) => {
      const guard = guardMicros(wins, { clickRate, priceMicros: 100 })
      assert(guard <= wins * 100)
      assert(guard >= Math.floor(wins * clickRate * 100))
    }),
  )
  assert.equal(guardMicros(0, { clickRate: 0.03, priceMicros: 100 }), 0)
})

test('the guard grows with the wins in flight', () => {
  fc.assert(
    fc.property(fc.nat(5_000), fc.nat(50), (wins, more) => {
      const at = (count: number) => guardMicros(count, { clickRate: 0.05, priceMicros: 1_000 })
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
  for (let click = 0; click < 5; click++) window.countClick(MINUTE)
  assert.equal(window.openWins, 0)
  assert(window.clickRate > 0 && window.clickRate < 1)
})

test('a clock that goes back loses no win', () => {
  const window = new WinWindow()
  window.countWin(100 * MINUTE)
  window.countWin(90 * MINUTE)
  assert.equal(window.openWins, 2)
})

test('the click rate starts at 3 % and follows what is seen', () => {
  const window = new WinWindow()
  assert(Math.abs(window.clickRate - 0.03) < 1e-12)
  for (let win = 0; win < 1_000; win++) window.countWin(MINUTE)
  for (let click = 0; click < 200; click++) window.countClick(MINUTE)
  assert(window.clickRate > 0.15 && window.clickRate < 0.2, String(window.clickRate))
})
