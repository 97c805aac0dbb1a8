/** The options that set up a publisher, a merchant or a campaign, for create and update. */
import { CONSENT_DEFAULTS, LINKMATE_SCOPES } from '../accounts/publisher.ts'
import { CAMPAIGN_MODELS, DEVICES } from '../demand/campaign.ts'
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

/** Options of `create`; `required` names those that it cannot do without. */
export function forCreate(
  settings: readonly OptionSpec[],
  required: readonly string[],
): OptionSpec[] {
  return settings.map((option) => ({
    ...option,
    isRequired: required.some((name) => option.flags.startsWith(`--${name} `)),
  }))
}

/** Options of `update`: which record, and any setting; switches can also be turned off. */
export function forUpdate(settings: readonly OptionSpec[]): OptionSpec[] {
  const switches = settings.filter(({ flags }) => !flags.includes('<'))
  const off = switches.map(({ flags, help }) => ({
    flags: flags.replace('--', '--no-'),
    help: `not: ${help}`,
  }))
  const id = { flags: '--id <ID>', help: 'which one', read: readInteger, isRequired: true }
  return [id, ...settings, ...off]
}

export const USER_SETTINGS: readonly OptionSpec[] = [
  { flags: '--email <E>', help: 'e-mail address' },
  { flags: '--password <P>', help: 'at least 8 characters' },
  { flags: '--admin', help: 'an operator, whose API keys may reverse clicks' },
]

export const PUBLISHER_SETTINGS: readonly OptionSpec[] = [
  { flags: '--name <N>', help: 'name' },
  { flags: '--slug <S>', help: 'short name in addresses' },
  { flags: '--user <E>', help: 'e-mail address of the user who owns it' },
  { flags: '--partner', help: 'member of the partner program' },
  { flags: '--share <fraction>', help: 'its part of each price (0.75)', read: readFraction },
  { flags: '--domain <D>', help: 'a domain of its pages; repeatable', read: readRepeated },
  { flags: '--floor <dollars>', help: 'least price of a click (0)', read: readDollars },
  {
    flags: '--category-floor <floor>',
    help: 'least price in a category: 222=0.10 or 222:GB=0.08; repeatable',
    read: readList(readCategoryFloor),
  },
  {
    flags: '--tolerance <fraction>',
    help: 'how much dearer than the original (0.05)',
    read: readFraction,
  },
  {
    flags: '--beta <number>',
    help: 'weight of a lower price for the reader (1)',
    read: readNumber,
  },
  {
    flags: '--epsilon <fraction>',
    help: 'share of auctions that explore (0.05)',
    read: readFraction,
  },
  { flags: '--allow-merchant <ID>', help: 'only these merchants; repeatable', read: readIds },
  { flags: '--block-merchant <ID>', help: 'never this merchant; repeatable', read: readIds },
  {
    flags: '--linkmate-scope <scope>',
    help: `links on any host, or the network’s: ${LINKMATE_SCOPES.join(' or ')} (all)`,
    read: readOptional(readWord(...LINKMATE_SCOPES)),
  },
  {
    flags: '--consent-default <consent>',
    help: `of readers who were not asked: ${CONSENT_DEFAULTS.join(' or ')} (full)`,
    read: readOptional(readWord(...CONSENT_DEFAULTS)),
  },
  { flags: '--allow-host <H>', help: 'other host that links may lead to', read: readRepeated },
  { flags: '--require-price', help: 'only offers whose price is known' },
]

export const MERCHANT_SETTINGS: readonly OptionSpec[] = [
  { flags: '--name <N>', help: 'name' },
  { flags: '--domain <D>', help: 'a domain of its shop, the first is shown', read: readRepeated },
  { flags: '--user <E>', help: 'e-mail address of its user', read: readText },
  { flags: '--click-param <name>', help: 'query parameter for the click id (cid)', read: readText },
  {
    flags: '--deep-link <template>',
    help: 'address of another network, with {url_encoded} and, for the click id, {cid}',
    read: readText,
  },
  {
    flags: '--window-days <days>',
    help: 'how long after a click orders count (30)',
    read: readOptional(readInteger),
  },
  { flags: '--origin <O>', help: 'origin of its checkout pages; repeatable', read: readRepeated },
  {
    flags: '--post-impression-rate <fraction>',
    help: 'commission on orders after a link that was only seen (none)',
    read: readFraction,
  },
  {
    flags: '--confirm-orders',
    help: 'orders told by browsers alone wait for its server, a file or a person',
  },
]

export const CAMPAIGN_SETTINGS: readonly OptionSpec[] = [
  { flags: '--merchant <ID>', help: 'whose campaign', read: readInteger },
  {
    flags: '--model <model>',
    help: CAMPAIGN_MODELS.join(', '),
    read: readWord(...CAMPAIGN_MODELS),
  },
  { flags: '--bid <dollars>', help: 'cpc: the most a click may cost', read: readDollars },
  {
    flags: '--exclusive-bid <dollars>',
    help: 'cpc: price of clicks on exclusive links (the bid)',
    read: readDollars,
  },
  { flags: '--rate <fraction>', help: 'cpa: commission on an order', read: readFraction },
  { flags: '--payment <dollars>', help: 'epp: paid per purchase', read: readDollars },
  { flags: '--roas <number>', help: 'cpc: revenue wanted per dollar', read: readNumber },
  { flags: '--daily-budget <dollars>', help: 'most per UTC day', read: readDollars },
  { flags: '--budget <dollars>', help: 'most in total', read: readDollars },
  { flags: '--start <ISO>', help: 'when it begins', read: readInstant },
  { flags: '--end <ISO>', help: 'when it ends', read: readInstant },
  { flags: '--country <codes>', help: 'only readers from these: US,GB', read: readWords },
  { flags: '--device <kinds>', help: `only these: ${DEVICES.join()}`, read: readWords },
  { flags: '--allow-publisher <ID>', help: 'only these publishers; repeatable', read: readIds },
  { flags: '--block-publisher <ID>', help: 'never this publisher; repeatable', read: readIds },
  { flags: '--tracker-impression <URL>', help: 'fired at the auction', read: readRepeated },
  { flags: '--tracker-viewable <URL>', help: 'fired when in view', read: readRepeated },
]

/**
 * The settings that options change: those not given stay as they are, and null, an empty value,
 * takes one back to its default. Every setting is named, so that none is left without an option.
 */
export function changesOf<Settings>(
  defaults: Partial<Settings>,
  given: { readonly [Name in keyof Settings]: Settings[Name] | null | undefined },
): Partial<Settings> {
  const changes: Partial<Settings> = {}
  for (const name in given) {
    if (given[name] !== undefined) changes[name] = given[name] ?? defaults[name]
  }
  return changes
}
