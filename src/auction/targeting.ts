/**
 * Targeting as bits: devices, countries and id lists of campaigns and publishers.
 *
 * Compiled once per market snapshot and shared by every candidate set, so that a check in the
 * auction is one load and one shift.
 */
import assert from 'node:assert/strict'
import { DEVICE, type Device } from '../events/user-agent.ts'
import { COUNTRIES } from '../platform/net/countries.ts'

const WORD_BITS = 32
/** Listed ids count up from 1; 2^22 of them are half a megabyte per list. */
export const LISTED_ID_MAX = 2 ** 22 - 1
/** Country 0 is "unknown": it is in no list, so a campaign with a list never admits it (511). */
export const COUNTRY_SLOTS = 256
/** A campaign without a device list admits every device, also an unknown one. */
export const ANY_DEVICE = 0b1111
const UNKNOWN_DEVICE_BIT = 0b1000

/** Admitted ids (`inside` 1: an allow list) or excluded ids (`inside` 0: a block list). */
export interface IdList {
  readonly inside: 0 | 1
  readonly bits: Uint32Array
}

/** Allowed and not blocked; null if both lists are empty. */
export function idList(allow: readonly number[], block: readonly number[]): IdList | null {
  if (allow.length > 0) {
    const blocked = new Set(block)
    return { inside: 1, bits: bitsOf(allow.filter((id) => !blocked.has(id))) }
  }
  return block.length > 0 ? { inside: 0, bits: bitsOf(block) } : null
}

/** Without a list everybody is admitted. */
export function lets(list: IdList | null, id: number): boolean {
  return list === null || bitAt(list.bits, id) === list.inside
}

const INDEXES = new Map(COUNTRIES.map((code, index) => [code, index + 1]))

/** The number of an ISO 3166 code in this process, 1 to 255; 0 for null and unknown codes. */
export function countryIndex(code: string | null): number {
  return code === null ? 0 : (INDEXES.get(code) ?? 0)
}

/** The code of an index in this process; null for 0. */
export function countryCode(index: number): string | null {
  return COUNTRIES[index - 1] ?? null
}

/** Null means everywhere. An unknown code leaves its list as strict as if it were absent. */
export function countryBits(codes: readonly string[]): Uint32Array | null {
  if (codes.length === 0) return null
  const bits = new Uint32Array(COUNTRY_SLOTS / WORD_BITS)
  for (const index of codes.map(countryIndex)) if (index > 0) setBit(bits, index)
  return bits
}

/** Whether a country is in the list; null contains all. */
export function isAmong(countries: Uint32Array | null, country: number): boolean {
  return countries === null || bitAt(countries, country) === 1
}

/** The mask of a campaign's device words; none or all of them means every device. */
export function deviceMask(devices: readonly Device[]): number {
  const mask = devices.reduce((bits, device) => bits | deviceBit(DEVICE[device]), 0)
  return mask === 0 || (mask | UNKNOWN_DEVICE_BIT) === ANY_DEVICE ? ANY_DEVICE : mask
}

/** `device` as in events: 0 unknown, 1 desktop, 2 mobile, 3 tablet. */
export function deviceBit(device: number): number {
  return device === DEVICE.unknown ? UNKNOWN_DEVICE_BIT : 1 << (device - 1)
}

function bitsOf(ids: readonly number[]): Uint32Array {
  const bits = new Uint32Array((Math.max(0, ...ids) >>> 5) + 1)
  for (const id of ids) {
    assert(id >= 0 && id <= LISTED_ID_MAX, `id ${id} in a list is above ${LISTED_ID_MAX}`)
    setBit(bits, id)
  }
  return bits
}

function bitAt(bits: Uint32Array, index: number): number {
  const word = index >>> 5
  return word < bits.length ? ((bits[word] as number) >>> (index & 31)) & 1 : 0
}

function setBit(bits: Uint32Array, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] as number) | (1 << (index & 31))
}
