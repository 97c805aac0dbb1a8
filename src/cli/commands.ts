/**
 * The operator's commands (`npx souk <command>`), in one list.
 *
 * Each is a thin call into the folder of its subject, loaded only when it runs, so the command line
 * starts in a fraction of a second.
 */
import { PERMISSIONS } from '../accounts/permission.ts'
import { PUBLISHER_DEFAULTS } from '../accounts/publisher.ts'
import { CAMPAIGN_DEFAULTS } from '../campaigns/campaign.ts'
import { FEED_FORMATS } from '../catalog/feeds/feed-format.ts'
import { hasGoodRow, type ImportResult, noGoodRow } from '../catalog/feeds/import-result.ts'
import { MERCHANT_DEFAULTS } from '../catalog/merchant.ts'
import { renderCheckPage } from '../check-page/render.ts'
import { LIST_ROWS_MAX } from '../platform/postgres/sql.ts'
import { type CommandSpec, commandsOf, hasDifferences } from './command.ts'
import { DAYS } from './day-range.ts'
import { MEMBER_COMMANDS } from './member-commands.ts'
import { MONEY_COMMANDS } from './money-commands.ts'
import {
  type OptionSpec,
  readAuctionResult,
  readDay,
  readInstant,
  readInteger,
  readList,
  readLongId,
  readWord,
} from './option.ts'
import { OF_MERCHANT, OF_PUBLISHER } from './organization.ts'
import { type Checks, formatChecks } from './print.ts'
import { formatEvaluation } from './print-evaluation.ts'
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

const serve = commandsOf(() => import('./serve.ts'))
const database = commandsOf(() => import('./database.ts'))
const doctor = commandsOf(() => import('./doctor.ts'))
const accounts = commandsOf(() => import('./accounts.ts'))
const signIn = commandsOf(() => import('./sign-in.ts'))
const demand = commandsOf(() => import('./demand.ts'))
const feed = commandsOf(() => import('./feed.ts'))
const links = commandsOf(() => import('./links.ts'))
const reports = commandsOf(() => import('./reports.ts'))
const auctions = commandsOf(() => import('./auctions.ts'))
const evaluate = commandsOf(() => import('./evaluate.ts'))
const checkPage = commandsOf(() => import('./check-page.ts'))

const AT_MOST = `${LIST_ROWS_MAX.toLocaleString('en')} at most`

const SERVER_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'serve',
    help: 'Serves the roles of ROLES until SIGTERM.',
    run: serve('serveCommand'),
  },
  {
    name: 'demo',
    help: 'Serves, with a demo network and its last 60 days when the database is empty.',
    options: [
      { flags: '--no-history', help: 'create the demo network without figures of past days' },
    ],
    run: serve('demoCommand'),
  },
]

const DATABASE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'migrate',
    help: 'Migrates the database to the schema of this version.',
    run: database('migrateCommand'),
  },
  {
    name: 'doctor',
    help:
      'Checks the database, migrations, disk, clock, spool, secrets, the fold and its reconciliation, ' +
      'feeds, leases, the nodes’ keys and settings, and NATS; exits with 1 after a failed check.',
    run: doctor('doctorCommand'),
    format: formatChecks,
    isRefusal: ({ ok }: Checks) => !ok,
  },
]

const USER_EMAIL: OptionSpec = {
  ...{ flags: '--email <E>', help: 'e-mail address of the user', isRequired: true },
}

const ACCOUNT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'user create',
    help: 'Makes a user of the dashboard and the API.',
    options: forCreate(USER_SETTINGS, { is_admin: false }),
    run: accounts('createUserCommand'),
  },
  {
    name: 'user update',
    help: 'Changes the settings given; a new password ends all sessions of the old one.',
    options: forUpdate(USER_SETTINGS),
    run: accounts('updateUserCommand'),
  },
  {
    name: 'user list',
    help: `Lists users, ${AT_MOST}.`,
    run: accounts('listUsersCommand'),
  },
  {
    name: 'user reset-password',
    help: 'Makes a link for a new password, to hand over; it works once, within an hour.',
    options: [USER_EMAIL],
    run: signIn('resetPasswordCommand'),
  },
  {
    name: 'user reset-second-factor',
    help: 'Removes lost second factors and ends all sessions; the user gets a mail.',
    options: [USER_EMAIL],
    run: signIn('resetSecondFactorCommand'),
  },
  {
    name: 'publisher create',
    help: 'Makes a publisher.',
    options: forCreate(PUBLISHER_SETTINGS, PUBLISHER_DEFAULTS),
    run: accounts('createPublisherCommand'),
  },
  {
    name: 'publisher update',
    help: 'Changes the settings given; lists are replaced, an empty value removes a setting.',
    options: forUpdate(PUBLISHER_SETTINGS),
    run: accounts('updatePublisherCommand'),
  },
  {
    name: 'publisher list',
    help: 'Lists publishers.',
    run: accounts('listPublishersCommand'),
  },
  {
    name: 'key create',
    help: 'Makes an API key and shows it, only now.',
    options: [
      { flags: '--user <E>', help: 'e-mail address of its user', isRequired: true },
      { flags: '--description <D>', help: 'label', isRequired: true },
      { flags: '--expires <ISO>', help: 'last moment (never)', read: readInstant },
      {
        flags: '--scope <S>',
        help: 'a permission it is limited to; repeat it or use commas (all of its user)',
        read: readList(readWord(...PERMISSIONS)),
      },
      { ...OF_PUBLISHER, help: 'id of the only publisher it is for' },
      { ...OF_MERCHANT, help: 'id of the only merchant it is for' },
    ],
    run: accounts('createKeyCommand'),
  },
  {
    name: 'key disable',
    help: 'Disables an API key for good.',
    options: [{ flags: '--token <ID>', help: 'which one', read: readInteger, isRequired: true }],
    run: accounts('disableKeyCommand'),
  },
  {
    name: 'key list',
    help: `Lists API keys, without the keys themselves, ${AT_MOST}.`,
    run: accounts('listKeysCommand'),
  },
]

const CAMPAIGN: OptionSpec = {
  flags: '--campaign <ID>',
  help: 'which one',
  read: readInteger,
  isRequired: true,
}

const DEMAND_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'merchant create',
    help: 'Makes a merchant.',
    options: forCreate(MERCHANT_SETTINGS, MERCHANT_DEFAULTS),
    run: demand('createMerchantCommand'),
  },
  {
    name: 'merchant update',
    help: 'Changes the settings given; lists are replaced, an empty value removes a setting.',
    options: [
      ...forUpdate(MERCHANT_SETTINGS),
      { flags: '--new-secret', help: 'another postback_secret; the old one ends at once' },
    ],
    run: demand('updateMerchantCommand'),
  },
  {
    name: 'merchant list',
    help: 'Lists merchants.',
    run: demand('listMerchantsCommand'),
  },
  {
    name: 'campaign create',
    help: 'Makes a campaign; one that could not work is refused, with every reason.',
    options: forCreate(CAMPAIGN_SETTINGS, CAMPAIGN_DEFAULTS),
    run: demand('createCampaignCommand'),
  },
  {
    name: 'campaign update',
    help: 'Changes the settings given; lists are replaced, an empty value removes a setting.',
    options: forUpdate(CAMPAIGN_SETTINGS),
    run: demand('updateCampaignCommand'),
  },
  {
    name: 'campaign list',
    help: `Lists campaigns, ${AT_MOST}.`,
    run: demand('listCampaignsCommand'),
  },
  {
    name: 'campaign pause',
    help: 'Stops a campaign until it is resumed.',
    options: [CAMPAIGN],
    run: demand('pauseCampaignCommand'),
  },
  {
    name: 'campaign resume',
    help: 'Lets a paused campaign run again.',
    options: [CAMPAIGN],
    run: demand('resumeCampaignCommand'),
  },
]

const CATALOG_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'feed import',
    help: 'Replaces a merchant’s offers by those of its feed; they bid for 24 hours. A URL is fetched again every 6 hours, until a file is imported.',
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
      {
        flags: '--map <FILE>',
        help: 'JSON: our fields, each with a column name or a list of names',
      },
      { flags: '--currency <CODE>', help: 'currency of prices that name none' },
      { flags: '--element <NAME>', help: 'the repeated element of an XML feed' },
      { flags: '--rejects <FILE>', help: 'write each bad row with its line and reason' },
    ],
    run: feed('importFeedCommand'),
    isRefusal: (result: ImportResult) => !hasGoodRow(result),
    refusal: noGoodRow,
  },
]

const LINK_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'link disable',
    help: 'Makes a smart link lead to its own destination; clicks are unpaid, on earlier results too.',
    options: [
      { flags: '--auction-id <ID>', help: 'which one', read: readLongId, isRequired: true },
    ],
    run: links('disableLinkCommand'),
  },
  {
    name: 'link list',
    help: `Lists smart links, the newest first, ${AT_MOST}.`,
    run: links('listLinksCommand'),
  },
  {
    name: 'link unattributed',
    help: 'Lists wrapper redirects of 30 days that name no known publisher, by slug and host.',
    run: links('listUnattributedCommand'),
  },
]

const PROOF_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'stats',
    help: 'Shows a publisher’s daily figures by article and merchant.',
    options: [{ flags: '--publisher <SLUG>', help: 'whose', isRequired: true }, ...DAYS],
    run: reports('statsCommand'),
  },
  {
    name: 'explain',
    help: 'Explains an auction: every candidate, why each lost, the price and why.',
    options: [
      {
        flags: '--auction-result <ID>',
        help: 'id or number of its result, or id of a click on it',
        read: readAuctionResult,
        isRequired: true,
      },
    ],
    run: auctions('explainCommand'),
    format: formatExplanation,
  },
  {
    name: 'replay',
    help: 'Runs a day’s stored auctions again and compares them and their clicks; exits with 1 on any difference.',
    options: [{ flags: '--date <D>', help: 'UTC day', read: readDay, isRequired: true }],
    run: auctions('replayCommand'),
    isRefusal: hasDifferences,
  },
]

const EVALUATION_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'evaluate',
    help: 'Measures the predictions on the log, forward in time, against three baselines.',
    options: [
      { flags: '--from <D>', help: 'first day (for 28 days in all)', read: readDay },
      { flags: '--to <D>', help: 'last day (today)', read: readDay },
      { flags: '--plot <FILE>', help: 'write predicted against actual rates as SVG' },
    ],
    run: evaluate('evaluateCommand'),
    format: formatEvaluation,
  },
]

const TOOL_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'check-page',
    argument: '<url>',
    help: 'Loads a page in Chromium and shows the page tag’s effect on each link.',
    options: [
      { flags: '--publisher <S>', help: 'slug (from the page’s tag, or by its domain)' },
      { flags: '--out <FILE>', help: 'where to write the picture (a file in the working folder)' },
      { flags: '--chromium <PATH>', help: 'the browser (found where systems install it)' },
    ],
    run: checkPage('checkPageCommand'),
    format: renderCheckPage,
  },
]

export const COMMANDS: readonly CommandSpec[] = [
  ...SERVER_COMMANDS,
  ...DATABASE_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...MEMBER_COMMANDS,
  ...DEMAND_COMMANDS,
  ...CATALOG_COMMANDS,
  ...LINK_COMMANDS,
  ...MONEY_COMMANDS,
  ...STATEMENT_COMMANDS,
  ...PROOF_COMMANDS,
  ...EVALUATION_COMMANDS,
  ...TOOL_COMMANDS,
]
