import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AddressReservations } from './address-reservations.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z')
const WINDOW_MS = 20 * 60_000

test('an address reserves in twenty minutes as many clicks as its campaign pays in an hour', () => {
  const reservations = new AddressReservations()
  const take = (of: Partial<{ campaignId: number; address: string }>, nowMs: number) =>
    reservations.take({ campaignId: 7, address: '203.0.113.7', paidPerHour: 10, ...of }, nowMs)
  for (let click = 0; click < 10; click++) assert(take({}, NOON + click))
  assert(!take({}, NOON + WINDOW_MS - 1))
  assert(take({ campaignId: 8 }, NOON) && take({ address: '203.0.113.8' }, NOON))
  assert(take({}, NOON + WINDOW_MS))
  assert(take({}, NOON - WINDOW_MS), 'the clock was set back')
})
