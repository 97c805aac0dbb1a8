/**
 * The operator's commands (operator's interface, `npx souk <command>`), in one list.
 *
 * Each is a thin call into the folder that knows the subject, loaded only when it is run: the
 * command line itself starts in a fraction of a second.
 */
import { FEED_FORMATS } from '../catalog/feed-format.ts'
import type { CheckPageResult } from '../check-page/check-page.ts'
import { renderCheckPage } from '../check-page/render.ts'
import type { CheckPageCommandOptions } from './check-page.ts'
import { type CommandSpec, command, type OptionsOf } from './command.ts'
import type { EvaluateOptions } from './evaluate.ts'
import type { FeedImportOptions } from './feed.ts'
import { MONEY_COMMANDS } from './money-commands.ts'
import { type OptionSpec, readDay, readInstant, readInteger, readWord } from './option.ts'
import { type Checks, formatChecks } from './print.ts'
import { formatExplanation } from './print-explanation.ts'
import {
  CAMPAIGN_SETTINGS,
  forCreate,
  forUpdate,
  MERCHANT_SETTINGS,
  PUBLISHER_SETTINGS,
  USER_SETTINGS,
} from './settings.ts'
import { STATEMENT_COMMANDS } from './statement-commands.ts'

type Accounts = typeof import('./accounts.ts')
type Demand = typeof import('./demand.ts')
type Serve = typeof import('./serve.ts')
const accounts = (): Promise<Accounts> => import('./accounts.ts')
const demand = (): Promise<Demand> => import('./demand.ts')

const SERVER_COMMANDS: readonly CommandSpec<unknown>[] = [
  command({
    name: 'serve',
    help: 'Serves the roles of ROLES until SIGTERM.',
    options: [],
    run: async (context, options: OptionsOf<Serve['serveCommand']>) =>
      (await import('./serve.ts')).serveCommand(context, options),
  }),
  command({
    name: 'demo',
    help: 'Serves, with a demo network when the database is empty.',
    options: [],
    run: async (context, options: OptionsOf<Serve['demoCommand']>) =>
      (await import('./serve.ts')).demoCommand(context, options),
  }),
]

const DATABASE_COMMANDS: readonly CommandSpec<unknown>[] = [
  command({
    name: 'migrate',
    help: 'Brings the database to the schema of this program.',
    options: [],
    run: async (context) => (await import('./database.ts')).migrateCommand(context),
  }),
  command({
    name: 'doctor',
    help: 'Checks database, disk, clock, spool, lag, secrets and migrations.',
    options: [],
    run: async (context) => (await import('./doctor.ts')).doctorCommand(context),
    format: (result) => formatChecks(result as Checks),
    isRefusal: (result) => !(result as Checks).ok,
  }),
]

const ACCOUNT_COMMANDS: readonly CommandSpec<unknown>[] = [
  command<OptionsOf<Accounts['createUserCommand']>>({
    name: 'user create',
    help: 'Makes a user of the dashboard and the API.',
    options: forCreate(USER_SETTINGS, ['email', 'password']),
    run: async (context, options) => (await accounts()).createUserCommand(context, options),
  }),
  command<OptionsOf<Accounts['updateUserCommand']>>({
    name: 'user update',
    help: 'Changes what is given; a new password ends the sessions begun with the old one.',
    options: forUpdate(USER_SETTINGS),
    run: async (context, options) => (await accounts()).updateUserCommand(context, options),
  }),
  command({
    name: 'user list',
    help: 'Lists users.',
    options: [],
    run: async (context) => (await accounts()).listUsersCommand(context),
  }),
  command<OptionsOf<Accounts['createPublisherCommand']>>({
    name: 'publisher create',
    help: 'Makes a publisher.',
    options: forCreate(PUBLISHER_SETTINGS, ['name', 'slug', 'user']),
    run: async (context, options) => (await accounts()).createPublisherCommand(context, options),
  }),
  command<OptionsOf<Accounts['updatePublisherCommand']>>({
    name: 'publisher update',
    help: 'Changes the settings given; lists are replaced, an empty value takes one away.',
    options: forUpdate(PUBLISHER_SETTINGS),
    run: async (context, options) => (await accounts()).updatePublisherCommand(context, options),
  }),
  command({
    name: 'publisher list',
    help: 'Lists publishers.',
    options: [],
    run: async (context) => (await accounts()).listPublishersCommand(context),
  }),
  command<OptionsOf<Accounts['createKeyCommand']>>({
    name: 'key create',
    help: 'Makes an API key and shows it, this once.',
    options: [
      { flags: '--user <E>', help: 'e-mail address of its user', isRequired: true },
      { flags: '--description <D>', help: 'label', isRequired: true },
      { flags: '--expires <ISO>', help: 'last moment (never)', read: readInstant },
    ],
    run: async (context, options) => (await accounts()).createKeyCommand(context, options),
  }),
  command<OptionsOf<Accounts['disableKeyCommand']>>({
    name: 'key disable',
    help: 'Disables an API key for good.',
    options: [{ flags: '--token <ID>', help: 'which one', read: readInteger, isRequired: true }],
    run: async (context, options) => (await accounts()).disableKeyCommand(context, options),
  }),
  command({
    name: 'key list',
    help: 'Lists API keys, without the keys themselves.',
    options: [],
    run: async (context) => (await accounts()).listKeysCommand(context),
  }),
]

const CAMPAIGN: OptionSpec = {
  flags: '--campaign <ID>',
  help: 'which one',
  read: readInteger,
  isRequired: true,
}

const DEMAND_COMMANDS: readonly CommandSpec<unknown>[] = [
  command<OptionsOf<Demand['createMerchantCommand']>>({
    name: 'merchant create',
    help: 'Makes a merchant.',
    options: forCreate(MERCHANT_SETTINGS, ['name', 'domain']),
    run: async (context, options) => (await demand()).createMerchantCommand(context, options),
  }),
  command<OptionsOf<Demand['updateMerchantCommand']>>({
    name: 'merchant update',
    help: 'Changes the settings given; lists are replaced, an empty value takes one away.',
    options: forUpdate(MERCHANT_SETTINGS),
    run: async (context, options) => (await demand()).updateMerchantCommand(context, options),
  }),
  command({
    name: 'merchant list',
    help: 'Lists merchants.',
    options: [],
    run: async (context) => (await demand()).listMerchantsCommand(context),
  }),
  command<OptionsOf<Demand['createCampaignCommand']>>({
    name: 'campaign create',
    help: 'Makes a campaign; one that could not work is refused, with every reason.',
    options: forCreate(CAMPAIGN_SETTINGS, ['merchant', 'model']),
    run: async (context, options) => (await demand()).createCampaignCommand(context, options),
  }),
  command<OptionsOf<Demand['updateCampaignCommand']>>({
    name: 'campaign update',
    help: 'Changes the settings given; lists are replaced, an empty value takes one away.',
    options: forUpdate(CAMPAIGN_SETTINGS),
    run: async (context, options) => (await demand()).updateCampaignCommand(context, options),
  }),
  command({
    name: 'campaign list',
    help: 'Lists campaigns.',
    options: [],
    run: async (context) => (await demand()).listCampaignsCommand(context),
  }),
  command<{ campaign: number }>({
    name: 'campaign pause',
    help: 'Stops a campaign until it is resumed.',
    options: [CAMPAIGN],
    run: async (context, { campaign }) =>
      (await demand()).setCampaignStateCommand(context, { campaign, state: 'paused' }),
  }),
  command<{ campaign: number }>({
    name: 'campaign resume',
    help: 'Lets a paused campaign run again.',
    options: [CAMPAIGN],
    run: async (context, { campaign }) =>
      (await demand()).setCampaignStateCommand(context, { campaign, state: 'active' }),
  }),
]

const CATALOG_COMMANDS: readonly CommandSpec<unknown>[] = [
  command<FeedImportOptions>({
    name: 'feed import',
    help: 'Brings a merchant’s offers to what its feed says.',
    options: [
      { flags: '--merchant <ID>', help: 'merchant', read: readInteger, isRequired: true },
      {
        flags: '--file <PATH|URL>',
        help: 'CSV, TSV, JSONL or XML; plain, gzip, zip',
        isRequired: true,
      },
      {
        flags: '--format <F>',
        help: FEED_FORMATS.join(', '),
        read: readWord(...FEED_FORMATS),
      },
      { flags: '--rejects <FILE>', help: 'write each bad row with its line and reason' },
    ],
    run: async (context, options) =>
      (await import('./feed.ts')).importFeedCommand(context, { ...{ format: 'auto' }, ...options }),
  }),
]

const LINK_COMMANDS: readonly CommandSpec<unknown>[] = [
  command<{ auctionId: string }>({
    name: 'link disable',
    help: 'Lets a smart link lead to its own destination, paid by nobody.',
    options: [{ flags: '--auction-id <ID>', help: 'which one', isRequired: true }],
    run: async (context, options) =>
      (await import('./links.ts')).disableLinkCommand(context, options),
  }),
  command({
    name: 'link list',
    help: 'Lists the newest smart links.',
    options: [],
    run: async (context) => (await import('./links.ts')).listLinksCommand(context),
  }),
]

const DAYS: readonly OptionSpec[] = [
  { flags: '--from <D>', help: 'first day', read: readDay, isRequired: true },
  { flags: '--to <D>', help: 'last day', read: readDay, isRequired: true },
]

const PROOF_COMMANDS: readonly CommandSpec<unknown>[] = [
  command<{ publisher: string; from: string; to: string }>({
    name: 'stats',
    help: 'Shows a publisher’s daily figures by article and merchant.',
    options: [{ flags: '--publisher <SLUG>', help: 'whose', isRequired: true }, ...DAYS],
    run: async (context, options) => (await import('./figures.ts')).statsCommand(context, options),
  }),
  command<{ auctionResult: string }>({
    name: 'explain',
    help: 'Explains an auction: every candidate, why each lost, the price and why.',
    options: [
      { flags: '--auction-result <ID>', help: 'its id, or its result number', isRequired: true },
    ],
    run: async (context, options) =>
      (await import('./auctions.ts')).explainCommand(context, options),
    format: formatExplanation,
  }),
  command<{ date: string }>({
    name: 'replay',
    help: 'Runs a day’s stored auctions again; ends with 1 on any difference.',
    options: [{ flags: '--date <D>', help: 'UTC day', read: readDay, isRequired: true }],
    run: async (context, options) =>
      (await import('./auctions.ts')).replayCommand(context, options),
    isRefusal: (result) => (result as { differences: unknown[] }).differences.length > 0,
  }),
]

const EVALUATION_COMMANDS: readonly CommandSpec<unknown>[] = [
  command<EvaluateOptions>({
    name: 'evaluate',
    help: 'Measures the predictions on the log, forward in time, against three baselines.',
    options: [
      { flags: '--from <D>', help: 'first day (28 days before the last)', read: readDay },
      { flags: '--to <D>', help: 'last day (today)', read: readDay },
      { flags: '--plot <FILE>', help: 'write predicted against actual rates as SVG' },
    ],
    run: async (context, options) =>
      (await import('./evaluate.ts')).evaluateCommand(context, options),
  }),
]

const TOOL_COMMANDS: readonly CommandSpec<unknown>[] = [
  command<CheckPageCommandOptions>({
    name: 'check-page',
    argument: '<url>',
    help: 'Loads a page in Chromium and says what the page tag would do, link by link.',
    options: [
      { flags: '--publisher <S>', help: 'slug (from the page’s tag, or by its domain)' },
      { flags: '--screenshot <FILE>', help: 'where to write the picture (a temporary file)' },
      { flags: '--chromium <PATH>', help: 'the browser (found where systems install it)' },
    ],
    run: async (context, options) =>
      (await import('./check-page.ts')).checkPageCommand(context, options),
    format: (result) => renderCheckPage(result as CheckPageResult),
  }),
]

export const COMMANDS: readonly CommandSpec<unknown>[] = [
  ...SERVER_COMMANDS,
  ...DATABASE_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...DEMAND_COMMANDS,
  ...CATALOG_COMMANDS,
  ...LINK_COMMANDS,
  ...MONEY_COMMANDS,
  ...STATEMENT_COMMANDS,
  ...PROOF_COMMANDS,
  ...EVALUATION_COMMANDS,
  ...TOOL_COMMANDS,
]
