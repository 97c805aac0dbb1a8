import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '../platform/timestamp.ts'
import { AddressReservations } from './address-reservations.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z')

test('an address reserves three times as many clicks an hour as its campaign pays', () => {
  const reservations = new AddressReservations()
  const take = (of: Partial<{ campaignId: number; address: string }>, nowMs: number) =>
    reservations.take({ campaignId: 7, address: '203.0.113.7', paidPerHour: 10, ...of }, nowMs)
  for (let click = 0; click < 30; click++) assert(take({}, NOON + click))
  assert(!take({}, NOON + HOUR_MS - 1))
  assert(take({ campaignId: 8 }, NOON) && take({ address: '203.0.113.8' }, NOON))
  assert(take({}, NOON + HOUR_MS))
  assert(take({}, NOON - HOUR_MS), 'the clock was set back')
})
