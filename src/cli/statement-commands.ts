/** The operator's commands on statements, payouts, webhooks and scheduled deliveries. */
import { MINIMUM_PAYOUT_MICROS } from '../ledger/statement.ts'
import { formatExact } from '../platform/money/money.ts'
import { WEBHOOK_EVENTS } from '../webhooks/webhook.ts'
import { type CommandSpec, commandsOf } from './command.ts'
import { type OptionSpec, readInteger, readList, readLongId } from './option.ts'

const statements = commandsOf(() => import('./statements.ts'))

const PUBLISHER: OptionSpec = { flags: '--publisher <SLUG>', help: 'whose', isRequired: true }
const MONTH: OptionSpec = { flags: '--month <M>', help: 'such as 2026-03', isRequired: true }
const WEBHOOK: OptionSpec = {
  flags: '--webhook <ID>',
  help: 'which one',
  read: readInteger,
  isRequired: true,
}

const STATEMENTS: readonly CommandSpec[] = [
  {
    name: 'statement issue',
    help: 'Issues the statements of all months over for a day at least, as the nightly job does.',
    run: statements('issueStatementsCommand'),
  },
  {
    name: 'statement list',
    help: 'Lists a publisher’s statements.',
    options: [PUBLISHER],
    run: statements('listStatementsCommand'),
  },
  {
    name: 'statement write',
    help: 'Writes a statement as CSV and as a page to print.',
    options: [PUBLISHER, MONTH, { flags: '--out <DIR>', help: 'folder', isRequired: true }],
    run: statements('writeStatementCommand'),
  },
  {
    name: 'payout file',
    help:
      'Writes the payouts of a month, and issues missing statements. Less than ' +
      `$${formatExact(MINIMUM_PAYOUT_MICROS)} is carried into the next month.`,
    options: [MONTH, { flags: '--out <FILE>', help: 'CSV', isRequired: true }],
    run: statements('payoutsCommand'),
  },
  {
    name: 'ageing',
    help: 'Shows which merchant owes how much, and since when.',
    run: statements('ageingCommand'),
  },
]

const WEBHOOKS: readonly CommandSpec[] = [
  {
    name: 'webhook create',
    help: 'Makes a webhook for a publisher or a merchant; its secret is shown only now.',
    options: [
      { flags: '--publisher <SLUG>', help: 'a publisher’s' },
      { flags: '--merchant <ID>', help: 'a merchant’s', read: readInteger },
      { flags: '--url <URL>', help: 'where to', isRequired: true },
      {
        flags: '--event <E>',
        help: `${WEBHOOK_EVENTS.join(', ')}; payout.ready for publishers only; repeatable`,
        read: readList((text) => text),
        isRequired: true,
      },
    ],
    oneOf: ['publisher', 'merchant'],
    run: statements('createWebhookCommand'),
  },
  {
    name: 'webhook list',
    help: 'Lists webhooks, and why those that are off were switched off.',
    run: statements('listWebhooksCommand'),
  },
  {
    name: 'webhook enable',
    help: 'Switches a webhook on again and sends its waiting deliveries.',
    options: [WEBHOOK],
    run: statements('enableWebhookCommand'),
  },
  {
    name: 'webhook delete',
    help: 'Deletes a webhook with its deliveries.',
    options: [WEBHOOK],
    run: statements('deleteWebhookCommand'),
  },
  {
    name: 'webhook replay',
    help: 'Sends a delivery again, as it was.',
    options: [{ flags: '--delivery <ID>', help: 'which one', read: readLongId, isRequired: true }],
    run: statements('replayWebhookCommand'),
  },
]

const DELIVERIES: readonly CommandSpec[] = [
  {
    name: 'delivery create',
    help: 'Delivers a publisher’s reports every six hours, each time those of the last seven days.',
    options: [
      PUBLISHER,
      { flags: '--to <TARGET>', help: 'a folder, or s3://bucket/prefix', isRequired: true },
      { flags: '--endpoint <URL>', help: 'address of S3-compatible storage (Amazon’s)' },
      { flags: '--region <R>', help: 'region of the storage (us-east-1)' },
      { flags: '--access-key <K>', help: 'access key of the storage' },
      { flags: '--secret-key <S>', help: 'its secret key' },
      { flags: '--gzip', help: 'deliver .csv.gz' },
    ],
    run: statements('createDeliveryCommand'),
  },
  {
    name: 'delivery list',
    help: 'Lists where reports are delivered, and how the last run went.',
    run: statements('listDeliveriesCommand'),
  },
  {
    name: 'delivery delete',
    help: 'Ends a delivery; files delivered so far stay.',
    options: [{ flags: '--delivery <ID>', help: 'which one', read: readInteger, isRequired: true }],
    run: statements('deleteDeliveryCommand'),
  },
  {
    name: 'delivery run',
    help: 'Delivers the next scheduled deliveries now.',
    run: statements('runDeliveriesCommand'),
    isRefusal: ({ deliveries }: { deliveries: readonly { error: string | null }[] }) =>
      deliveries.some(({ error }) => error !== null),
  },
]

export const STATEMENT_COMMANDS: readonly CommandSpec[] = [
  ...STATEMENTS,
  ...WEBHOOKS,
  ...DELIVERIES,
]
