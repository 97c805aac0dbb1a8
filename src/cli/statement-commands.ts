/** The operator's commands on statements, payouts, webhooks and scheduled deliveries. */
import { type CommandSpec, command, type OptionsOf } from './command.ts'
import { type OptionSpec, readInteger, readList } from './option.ts'

type Statements = typeof import('./statements.ts')
const statements = (): Promise<Statements> => import('./statements.ts')

const PUBLISHER: OptionSpec = { flags: '--publisher <SLUG>', help: 'whose', isRequired: true }
const MONTH: OptionSpec = { flags: '--month <M>', help: 'such as 2026-03', isRequired: true }
const WEBHOOK: OptionSpec = {
  flags: '--webhook <ID>',
  help: 'which one',
  read: readInteger,
  isRequired: true,
}

const STATEMENTS: readonly CommandSpec<unknown>[] = [
  command({
    name: 'statement issue',
    help: 'Issues the statements of months that are over, as every night.',
    options: [],
    run: async (context) => (await statements()).issueStatementsCommand(context),
  }),
  command<OptionsOf<Statements['listStatementsCommand']>>({
    name: 'statement list',
    help: 'Lists a publisher’s statements.',
    options: [PUBLISHER],
    run: async (context, options) => (await statements()).listStatementsCommand(context, options),
  }),
  command<OptionsOf<Statements['writeStatementCommand']>>({
    name: 'statement write',
    help: 'Writes a statement as CSV and as a page to print.',
    options: [PUBLISHER, MONTH, { flags: '--out <DIR>', help: 'folder', isRequired: true }],
    run: async (context, options) => (await statements()).writeStatementCommand(context, options),
  }),
  command<OptionsOf<Statements['payoutsCommand']>>({
    name: 'payout file',
    help: 'Writes whom to pay how much for a month.',
    options: [MONTH, { flags: '--out <FILE>', help: 'CSV', isRequired: true }],
    run: async (context, options) => (await statements()).payoutsCommand(context, options),
  }),
  command({
    name: 'ageing',
    help: 'Shows which merchant owes how much, and since when.',
    options: [],
    run: async (context) => (await statements()).ageingCommand(context),
  }),
]

const WEBHOOKS: readonly CommandSpec<unknown>[] = [
  command<OptionsOf<Statements['createWebhookCommand']>>({
    name: 'webhook create',
    help: 'Makes a webhook of a publisher or a merchant; its secret is shown this once.',
    options: [
      { flags: '--publisher <SLUG>', help: 'a publisher’s' },
      { flags: '--merchant <ID>', help: 'a merchant’s', read: readInteger },
      { flags: '--url <URL>', help: 'where to', isRequired: true },
      {
        flags: '--event <E>',
        help: 'what is told, such as order.locked; repeatable',
        read: readList((text) => text),
        isRequired: true,
      },
    ],
    oneOf: ['publisher', 'merchant'],
    run: async (context, options) => (await statements()).createWebhookCommand(context, options),
  }),
  command({
    name: 'webhook list',
    help: 'Lists webhooks, and why those that are off were switched off.',
    options: [],
    run: async (context) => (await statements()).listWebhooksCommand(context),
  }),
  command<OptionsOf<Statements['enableWebhookCommand']>>({
    name: 'webhook enable',
    help: 'Switches a webhook on again; what waited is sent.',
    options: [WEBHOOK],
    run: async (context, options) => (await statements()).enableWebhookCommand(context, options),
  }),
  command<OptionsOf<Statements['deleteWebhookCommand']>>({
    name: 'webhook delete',
    help: 'Deletes a webhook with its deliveries.',
    options: [WEBHOOK],
    run: async (context, options) => (await statements()).deleteWebhookCommand(context, options),
  }),
  command<OptionsOf<Statements['replayWebhookCommand']>>({
    name: 'webhook replay',
    help: 'Sends a delivery again, as it was.',
    options: [{ flags: '--delivery <ID>', help: 'which one', isRequired: true }],
    run: async (context, options) => (await statements()).replayWebhookCommand(context, options),
  }),
]

const DELIVERIES: readonly CommandSpec<unknown>[] = [
  command<OptionsOf<Statements['createDeliveryCommand']>>({
    name: 'delivery create',
    help: 'Has a publisher’s reports delivered on schedule, the last seven days each time.',
    options: [
      PUBLISHER,
      { flags: '--to <TARGET>', help: 'a folder, or s3://bucket/prefix', isRequired: true },
      { flags: '--endpoint <URL>', help: 'of S3-compatible storage (Amazon’s)' },
      { flags: '--region <R>', help: 'of the storage (us-east-1)' },
      { flags: '--access-key <K>', help: 'of the storage' },
      { flags: '--secret-key <S>', help: 'of the storage' },
      { flags: '--gzip', help: 'deliver .csv.gz' },
    ],
    run: async (context, options) => (await statements()).createDeliveryCommand(context, options),
  }),
  command({
    name: 'delivery list',
    help: 'Lists where reports are delivered, and how the last run went.',
    options: [],
    run: async (context) => (await statements()).listDeliveriesCommand(context),
  }),
  command<OptionsOf<Statements['deleteDeliveryCommand']>>({
    name: 'delivery delete',
    help: 'Ends a delivery; what was delivered stays.',
    options: [{ flags: '--delivery <ID>', help: 'which one', read: readInteger, isRequired: true }],
    run: async (context, options) => (await statements()).deleteDeliveryCommand(context, options),
  }),
  command({
    name: 'delivery run',
    help: 'Delivers now what the schedule would deliver.',
    options: [],
    run: async (context) => (await statements()).runDeliveriesCommand(context),
    isRefusal: (result) =>
      (result as { deliveries: { error: string | null }[] }).deliveries.some(
        ({ error }) => error !== null,
      ),
  }),
]

export const STATEMENT_COMMANDS: readonly CommandSpec<unknown>[] = [
  ...STATEMENTS,
  ...WEBHOOKS,
  ...DELIVERIES,
]
