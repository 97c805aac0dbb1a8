/** The settings of a merchant's account, and the checks that refuse invalid ones. */

import type { Fault } from '../platform/errors/api-errors.ts'
import { PPM } from '../platform/money/money.ts'
import { isCurrency } from '../platform/money/read-currency.ts'
import { DOMAIN_RULE, readDomain } from '../platform/net/domain.ts'
import { readOrigin } from '../platform/net/url.ts'
import { characterCount } from '../platform/text/characters.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'

const MERCHANT_NAME_LENGTH_MAX = 255
const DOMAINS_MAX = 1000 // A merchant with more would be a network.
const ORIGINS_MAX = 100
const WINDOW_DAYS_MAX = 90 // Merchants choose 1 to 90 days.
const DEEP_LINK_LENGTH_MAX = 1000 // With a destination of 6000 bytes it stays under 8000.

/** Older prices and stock are unreliable (docs/spec/auction.md#eligibility). */
export const FEED_AGE_MAX_MS = DAY_MS

/** The settings of a merchant, named as its columns; `domains` are rows of merchant_domain. */
export interface MerchantSettings {
  readonly name: string
  readonly uid: number | null
  readonly domains: readonly string[]
  readonly click_param: string // the query parameter that carries the click id
  readonly deep_link: string | null // another network's address, with {url_encoded}, perhaps {cid}
  readonly window_days: number // how long after a click an order counts
  readonly origins: readonly string[] // pages whose checkout calls are accepted
  /** Commission on orders after a link that was only seen; null: none is paid. */
  readonly post_impression_rate_ppm: number | null
  /** Orders that only browsers report wait for its server, a file or a person. */
  readonly is_confirming: boolean
  /** Its contract allows commissions below the agreed rate: docs/spec/auction.md#second-rate. */
  readonly allows_second_rate: boolean
  /** ISO 4217: what prices of its feeds without a currency are in; null: not set. */
  readonly default_currency: string | null
}

/** Defaults of a new merchant; the same as the columns' defaults. */
export const MERCHANT_DEFAULTS: Omit<MerchantSettings, 'name' | 'domains'> = {
  uid: null,
  click_param: 'cid',
  deep_link: null,
  window_days: 30,
  origins: [],
  post_impression_rate_ppm: null,
  is_confirming: false,
  allows_second_rate: false,
  default_currency: null,
}

/** The same settings with domains and origins in the one form they are compared in. */
export function normalMerchant(settings: MerchantSettings): MerchantSettings {
  const domains = settings.domains.map((text) => readDomain(text) ?? text)
  const origins = settings.origins.map((text) => readOrigin(text) ?? text)
  const default_currency = settings.default_currency?.trim().toUpperCase() || null
  return {
    ...settings,
    domains: [...new Set(domains)],
    origins: [...new Set(origins)],
    default_currency,
  }
}

/** Lists every reason why these settings are refused. */
export function merchantFaults(settings: MerchantSettings): Fault[] {
  const faults: Fault[] = []
  const check = (isRight: boolean, field: string, rule: string) => {
    if (!isRight) faults.push({ field, rule })
  }
  const name = settings.name.trim()
  check(
    name !== '' && characterCount(name) <= MERCHANT_NAME_LENGTH_MAX,
    'name',
    `1 to ${MERCHANT_NAME_LENGTH_MAX} characters`,
  )
  const { domains, origins } = settings
  check(domains.length > 0, 'domain', 'a merchant needs at least one: its offers live there')
  check(domains.length <= DOMAINS_MAX, 'domain', `at most ${DOMAINS_MAX}`)
  for (const text of domains.filter((domain) => readDomain(domain) === null).slice(0, 5)) {
    check(false, 'domain', `${DOMAIN_RULE}; is "${text}"`)
  }
  check(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(settings.click_param),
    'click_param',
    '1 to 64 letters, digits, - _ or .',
  )
  check(
    Number.isInteger(settings.window_days) &&
      settings.window_days >= 1 &&
      settings.window_days <= WINDOW_DAYS_MAX,
    'window_days',
    `must be a whole number from 1 to ${WINDOW_DAYS_MAX}`,
  )
  check(origins.length <= ORIGINS_MAX, 'origin', `at most ${ORIGINS_MAX}`)
  for (const text of origins.filter((origin) => readOrigin(origin) === null).slice(0, 5)) {
    check(false, 'origin', `must be an origin such as https://shop.example; is "${text}"`)
  }
  const currency = settings.default_currency
  check(
    currency === null || isCurrency(currency),
    'default_currency',
    `must be a currency of ISO 4217, such as EUR, or empty; is "${currency}"`,
  )
  const rate = settings.post_impression_rate_ppm
  check(
    rate === null || (Number.isInteger(rate) && rate >= 1 && rate <= PPM),
    'post_impression_rate',
    'must be a fraction above 0 and up to 1, or empty',
  )
  return [...faults, ...deepLinkFaults(settings.deep_link)]
}

function deepLinkFaults(template: string | null): Fault[] {
  if (template === null) return []
  const field = 'deep_link'
  if (template.length > DEEP_LINK_LENGTH_MAX) {
    return [{ field, rule: `at most ${DEEP_LINK_LENGTH_MAX} characters` }]
  }
  if (!template.includes('{url_encoded}')) {
    return [{ field, rule: 'must hold {url_encoded}, where the product’s address goes' }]
  }
  const unknown = [...template.matchAll(/\{[^}]*\}/g)]
    .map(([name]) => name)
    .filter((name) => name !== '{url_encoded}' && name !== '{cid}')
  if (unknown.length > 0) {
    const rule = `unknown ${unknown.join(', ')}must contain {url_encoded}, where the product’s URL goes`
    return [{ field, rule }]
  }
  const filledWith = (text: string) => URL.parse(template.replaceAll(/\{[^}]*\}/g, text))
  const filled = filledWith('x')
  const isWeb = filled !== null && /^https?:$/.test(filled.protocol)
  if (!isWeb) return [{ field, rule: 'must be an http(s) URL' }]
  if (filled.origin === filledWith('y')?.origin) return []
  return [
    { field, rule: 'must have a fixed host: a click id or URL in the host would reach nobody' },
  ]
}
