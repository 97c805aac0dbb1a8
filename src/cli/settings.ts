/**
 * The options that set up a publisher, a merchant or a campaign, for create and update: each under
 * the name of the setting that it sets, so that the compiler finds one that is left without.
 */
import { Option } from 'commander'
import { CONSENT_DEFAULTS, LINKMATE_SCOPES, type PublisherSettings } from '../accounts/publisher.ts'
import { CAMPAIGN_MODELS, type CampaignSettings, DEVICES } from '../campaigns/campaign.ts'
import type { MerchantSettings } from '../catalog/merchant.ts'
import {
  type OptionSpec,
  readCategoryFloor,
  readDollars,
  readFraction,
  readInstant,
  readInteger,
  readList,
  readNumber,
  readOptional,
  readRepeated,
  readText,
  readWord,
} from './option.ts'

const readIds = readList(readInteger)
const readWords = readList((word) => word.toLowerCase())
const readCodes = readList((code) => code.toUpperCase())

/** An option: its flags, its help, and how its value is read. */
type Row = readonly [flags: string, help: string, read?: OptionSpec['read']]
type Rows<Settings> = Readonly<Record<keyof Settings, Row>>

/** Options as they were given. */
export type Given = Readonly<Record<string, unknown>>

const toSpec = ([flags, help, read]: Row): OptionSpec => ({ flags, help, read })

/**
 * Options of `create`, which cannot do without those of settings that have no default. A switch
 * whose default depends (null) can also be turned off.
 */
export function forCreate<Settings>(
  settings: Rows<Settings>,
  defaults: Partial<Settings>,
): OptionSpec[] {
  const rows: [string, Row][] = Object.entries(settings)
  const depending = rows.filter(
    ([name, [flags]]) => !flags.includes('<') && defaults[name as keyof Settings] === null,
  )
  return [
    ...rows.map(([name, row]) => ({ ...toSpec(row), isRequired: !(name in defaults) })),
    ...depending.map(([, row]) => switchOff(toSpec(row))),
  ]
}

const switchOff = ({ flags, help }: OptionSpec): OptionSpec => ({
  flags: flags.replace('--', '--no-'),
  help: `not: ${help}`,
})

/** Options of `update`: which record, and any setting; switches can also be turned off. */
export function forUpdate(settings: Readonly<Record<string, Row>>): OptionSpec[] {
  const all = Object.values(settings).map(toSpec)
  const switches = all.filter(({ flags }) => !flags.includes('<'))
  const id = { flags: '--id <ID>', help: 'which one', read: readInteger, isRequired: true }
  return [id, ...all, ...switches.map(switchOff)]
}

/**
 * The settings that options change: those not given stay as they are, and null, an empty value,
 * takes one back to its default.
 */
export function changesOf<Settings>(
  settings: Rows<Settings>,
  given: Given,
  defaults: Partial<Settings>,
): Partial<Settings> {
  const changes: Partial<Settings> = {}
  for (const name in settings) {
    const value = given[new Option(settings[name][0]).attributeName()]
    if (value !== undefined) changes[name] = (value as Settings[typeof name]) ?? defaults[name]
  }
  return changes
}

export const USER_SETTINGS = {
  email: ['--email <E>', 'e-mail address'],
  password: ['--password <P>', 'at least 10 characters, and none of the common ones'],
  is_admin: ['--admin', 'an operator, whose API keys may reverse clicks'],
} as const

export const PUBLISHER_SETTINGS: Rows<PublisherSettings> = {
  name: ['--name <N>', 'name'],
  slug: ['--slug <S>', 'short name in addresses'],
  uid: ['--user <E>', 'e-mail address of the user who owns it'],
  is_partner: ['--partner', 'member of the partner program'],
  share_ppm: ['--share <fraction>', 'its part of each price (0.75)', readFraction],
  domains: ['--domain <D>', 'a domain of its pages; repeatable', readRepeated],
  floor_micros: ['--floor <dollars>', 'least price of a click (0)', readOptional(readDollars)],
  category_floors: [
    '--category-floor <floor>',
    'least price in a category: 222=0.10 or 222:GB=0.08; repeatable',
    readList(readCategoryFloor),
  ],
  tolerance_ppm: [
    '--tolerance <fraction>',
    'how much more expensive than the original (0.05)',
    readFraction,
  ],
  beta: ['--beta <number>', 'weight of a lower price for the reader (1)', readNumber],
  epsilon_ppm: ['--epsilon <fraction>', 'share of auctions that explore (0.05)', readFraction],
  allow_merchants: ['--allow-merchant <ID>', 'only these merchants; repeatable', readIds],
  block_merchants: ['--block-merchant <ID>', 'never this merchant; repeatable', readIds],
  linkmate_scope: [
    '--linkmate-scope <scope>',
    `links on any host, or the network’s: ${LINKMATE_SCOPES.join(' or ')} (all)`,
    readOptional(readWord(...LINKMATE_SCOPES)),
  ],
  consent_default: [
    '--consent-default <consent>',
    `of readers who were not asked: ${CONSENT_DEFAULTS.join(' or ')} (full)`,
    readOptional(readWord(...CONSENT_DEFAULTS)),
  ],
  allow_hosts: ['--allow-host <H>', 'other host that links may lead to; repeatable', readRepeated],
  is_price_required: ['--require-price', 'only offers whose price is known'],
  time_zone: ['--time-zone <name>', 'whose midnight begins its days: an IANA name (UTC)', readText],
}

export const MERCHANT_SETTINGS: Rows<MerchantSettings> = {
  name: ['--name <N>', 'name'],
  domains: ['--domain <D>', 'a domain of its shop; repeatable, the first is shown', readRepeated],
  uid: ['--user <E>', 'e-mail address of its user', readText],
  click_param: ['--click-param <name>', 'query parameter for the click id (cid)', readText],
  deep_link: [
    '--deep-link <template>',
    'address of another network, with {url_encoded} and, for the click id, {cid}',
    readText,
  ],
  window_days: [
    '--window-days <days>',
    'how long after a click orders count (30)',
    readOptional(readInteger),
  ],
  origins: ['--origin <O>', 'origin of its checkout pages; repeatable', readRepeated],
  post_impression_rate_ppm: [
    '--post-impression-rate <fraction>',
    'commission on orders after a link that was only seen (none)',
    readFraction,
  ],
  is_confirming: [
    '--confirm-orders',
    'orders reported by browsers alone wait for its server, a file or a person',
  ],
  allows_second_rate: [
    '--allow-second-rate',
    'its contract lets new cpa and epp campaigns pay only the rate that still wins',
  ],
  default_currency: [
    '--default-currency <CODE>',
    'currency of feed prices that name none (USD, with a note)',
    readText,
  ],
}

export const CAMPAIGN_SETTINGS: Rows<CampaignSettings> = {
  merch_id: ['--merchant <ID>', 'whose campaign', readInteger],
  model: ['--model <model>', CAMPAIGN_MODELS.join(', '), readWord(...CAMPAIGN_MODELS)],
  bid_micros: ['--bid <dollars>', 'cpc: the most a click may cost', readOptional(readDollars)],
  exclusive_bid_micros: [
    '--exclusive-bid <dollars>',
    'cpc: price of clicks on exclusive links (the bid)',
    readOptional(readDollars),
  ],
  rate_ppm: ['--rate <fraction>', 'cpa: commission on an order', readFraction],
  payment_micros: ['--payment <dollars>', 'epp: paid per purchase', readOptional(readDollars)],
  roas: ['--roas <number>', 'cpc: revenue wanted per dollar', readNumber],
  has_second_rate: [
    '--second-rate',
    'cpa, epp: pay only the rate that still wins (if the contract allows it)',
  ],
  daily_budget_micros: [
    '--daily-budget <dollars>',
    'most per UTC day; only orders can exceed it',
    readOptional(readDollars),
  ],
  budget_micros: [
    '--budget <dollars>',
    'most in total; only orders can exceed it',
    readOptional(readDollars),
  ],
  starts_at: ['--start <ISO>', 'when it begins', readInstant],
  ends_at: ['--end <ISO>', 'when it ends', readInstant],
  countries: ['--country <codes>', 'only readers from these: US,GB', readCodes],
  devices: ['--device <kinds>', `only these: ${DEVICES.join()}`, readWords],
  allow_publishers: ['--allow-publisher <ID>', 'only these publishers; repeatable', readIds],
  block_publishers: ['--block-publisher <ID>', 'never this publisher; repeatable', readIds],
  tracker_impression: [
    '--tracker-impression <URL>',
    'fired at the auction; repeatable',
    readRepeated,
  ],
  tracker_viewable: ['--tracker-viewable <URL>', 'fired when in view; repeatable', readRepeated],
  clicks_per_address_hour: [
    '--clicks-per-address-hour <N>',
    'most paid clicks from one address in an hour (10)',
    readOptional(readInteger),
  ],
  clicks_per_address_day: [
    '--clicks-per-address-day <N>',
    'most paid clicks from one address in 24 hours (50)',
    readOptional(readInteger),
  ],
}
