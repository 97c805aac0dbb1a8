/** The settings of a publisher, and which ones are refused. */

import type { Fault } from '../platform/errors/api-errors.ts'
import { type Micros, micros, PPM } from '../platform/money/money.ts'
import { readDomain } from '../platform/net/domain.ts'
import { characterCount } from '../platform/text/characters.ts'
import { isTimeZone, TIME_ZONE_RULE } from '../platform/time/time-zone.ts'
import { type CategoryFloor, categoryFloorFaults } from './category-floor.ts'

const NAME_LENGTH_MAX = 255
const SLUG_LENGTH_MAX = 64 // The limit of the interface.
export const LIST_LENGTH_MAX = 1000 // Entries in one list of a publisher's settings.
/** A higher floor would silence the publisher, because no bid can be above this. */
export const FLOOR_MAX = micros(9_000_000_000)
/** The ranges of docs/spec/auction.md#score. */
const TOLERANCE_PPM_MAX = 200_000
export const BETA_MAX = 3
const EPSILON_PPM_MAX = 100_000

export const LINKMATE_SCOPES = ['all', 'network'] as const
export const CONSENT_DEFAULTS = ['full', 'contextual'] as const

/** The settings of a publisher, named like their columns. */
export interface PublisherSettings {
  readonly uid: number
  readonly name: string
  readonly slug: string
  readonly is_partner: boolean
  readonly share_ppm: number // The publisher's part of each price.
  // Its own pages, whose links are never turned into smart links.
  readonly domains: readonly string[]
  readonly floor_micros: Micros
  readonly category_floors: readonly CategoryFloor[]
  readonly tolerance_ppm: number // How much more expensive than the original an offer may be.
  readonly beta: number // How much a lower price for the reader weighs: docs/spec/auction.md#score.
  readonly epsilon_ppm: number // The share of exploring auctions.
  readonly allow_merchants: readonly number[] // Empty means all.
  readonly block_merchants: readonly number[]
  readonly allow_hosts: readonly string[] // Targets of /link/ that belong to no merchant.
  readonly linkmate_scope: (typeof LINKMATE_SCOPES)[number]
  readonly consent_default: (typeof CONSENT_DEFAULTS)[number]
  readonly is_price_required: boolean
  readonly time_zone: string // The IANA name; days of its breakdown begin there at midnight.
}

/** Defaults of a new publisher; the same as the columns' defaults. */
export const PUBLISHER_DEFAULTS: Omit<PublisherSettings, 'uid' | 'name' | 'slug'> = {
  is_partner: false,
  share_ppm: 750_000,
  domains: [],
  floor_micros: micros(0),
  category_floors: [],
  tolerance_ppm: 50_000,
  beta: 1,
  epsilon_ppm: 50_000,
  allow_merchants: [],
  block_merchants: [],
  allow_hosts: [],
  linkmate_scope: 'all',
  consent_default: 'full',
  is_price_required: false,
  time_zone: 'UTC',
}

/** The settings with every host in the form used for comparison. */
export function normalPublisher(settings: PublisherSettings): PublisherSettings {
  const hosts = (list: readonly string[]) => [
    ...new Set(list.map((text) => readDomain(text) ?? text)),
  ]
  return { ...settings, domains: hosts(settings.domains), allow_hosts: hosts(settings.allow_hosts) }
}

/** Every reason to refuse these settings; empty if there is none. */
export function publisherFaults(settings: PublisherSettings): Fault[] {
  const faults: Fault[] = []
  const check = (isRight: boolean, field: string, rule: string) => {
    if (!isRight) faults.push({ field, rule })
  }
  const name = settings.name.trim()
  const length = characterCount(name)
  check(length >= 1 && length <= NAME_LENGTH_MAX, 'name', `1 to ${NAME_LENGTH_MAX} characters`)
  check(
    /^[a-z0-9]+([._-]+[a-z0-9]+)*$/i.test(settings.slug) && settings.slug.length <= SLUG_LENGTH_MAX,
    'slug',
    `letters and digits, with - _ . between them, at most ${SLUG_LENGTH_MAX} characters`,
  )
  const between = (value: number, high: number) => value >= 0 && value <= high
  check(between(settings.share_ppm, PPM), 'share', 'must be a fraction from 0 to 1')
  check(between(settings.floor_micros, FLOOR_MAX), 'floor', 'must be from $0 to $9000 a click')
  check(between(settings.tolerance_ppm, TOLERANCE_PPM_MAX), 'tolerance', 'must be from 0 to 0.2')
  check(between(settings.beta, BETA_MAX), 'beta', `must be from 0 to ${BETA_MAX}`)
  check(between(settings.epsilon_ppm, EPSILON_PPM_MAX), 'epsilon', 'must be from 0 to 0.1')
  const scopes = LINKMATE_SCOPES.join(' or ')
  check(LINKMATE_SCOPES.includes(settings.linkmate_scope), 'linkmate_scope', `must be ${scopes}`)
  const consents = CONSENT_DEFAULTS.join(' or ')
  check(
    CONSENT_DEFAULTS.includes(settings.consent_default),
    'consent_default',
    `must be ${consents}`,
  )
  check(isTimeZone(settings.time_zone), 'time_zone', TIME_ZONE_RULE)
  return [...faults, ...listFaults(settings)]
}

function listFaults(settings: PublisherSettings): Fault[] {
  const limits = { floorMax: FLOOR_MAX, lengthMax: LIST_LENGTH_MAX }
  const faults = categoryFloorFaults(settings.category_floors, limits)
  const hostLists = { domain: settings.domains, allow_host: settings.allow_hosts }
  for (const [field, hosts] of Object.entries(hostLists)) {
    const wrong = hosts.filter((host) => readDomain(host) === null)
    const rule = 'must be host names such as www.example.com'
    if (wrong.length > 0) faults.push({ field, rule: `${rule}: ${wrong.slice(0, 5).join(', ')}` })
    if (hosts.length > LIST_LENGTH_MAX) faults.push({ field, rule: `at most ${LIST_LENGTH_MAX}` })
  }
  const merchantLists = {
    allow_merchant: settings.allow_merchants,
    block_merchant: settings.block_merchants,
  }
  for (const [field, ids] of Object.entries(merchantLists)) {
    if (ids.length > LIST_LENGTH_MAX) faults.push({ field, rule: `at most ${LIST_LENGTH_MAX}` })
  }
  const both = settings.allow_merchants.filter((id) => settings.block_merchants.includes(id))
  if (both.length > 0) {
    faults.push({ field: 'block_merchant', rule: `also allowed: merchant ${both.join(', ')}` })
  }
  return faults
}
