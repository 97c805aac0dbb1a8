/** The operator's commands on money: what comes in, what is owed, what is reported. */

import { NETWORK_FIELDS } from '../networks/network-map.ts'
import { READY_MAPS } from '../networks/ready-network-maps.ts'
import { REPORT_NAMES } from '../reports/report.ts'
import { type CommandSpec, commandsOf, hasDifferences } from './command.ts'
import { DAYS } from './day-range.ts'
import {
  type OptionSpec,
  readDay,
  readDollars,
  readHexId,
  readInteger,
  readWord,
} from './option.ts'
import { formatWhole } from './print.ts'

const money = commandsOf(() => import('./money.ts'))
const reports = commandsOf(() => import('./reports.ts'))

const MERCHANT: OptionSpec = {
  flags: '--merchant <ID>',
  help: 'merchant',
  read: readInteger,
  isRequired: true,
}
const FILE: OptionSpec = { flags: '--file <F>', help: 'CSV', isRequired: true }
const ORDERS_FILE: OptionSpec = {
  ...FILE,
  help:
    'CSV, a row per product: order_id, value, currency; as far as known ordered_at, updated_at, ' +
    'click_id, click_ids (comma-separated), is_new_customer (true, false), status (placed, ' +
    'cancelled), test, value_is_net (true, false), product_id, product_name, product_brand, quantity, price. Values of the whole ' +
    'order are in one of its rows, or the same in several',
}
const RETURNS_FILE: OptionSpec = {
  ...FILE,
  help:
    'CSV: return_id, order_id, product_id or line (from 0), quantity, returned_at; or, instead of ' +
    'quantity, amount and currency. Each row has its own return_id',
}
const RATES_FILE: OptionSpec = {
  ...FILE,
  help: 'CSV: date and a column per currency, or date, currency, rate and optionally base',
}
const REJECTS: OptionSpec = {
  flags: '--rejects <FILE>',
  help: 'write the rejected rows here, with line and reason',
}
const ORDER: OptionSpec = {
  flags: '--order <ID>',
  help: 'the order’s id at the merchant',
  isRequired: true,
}
const REASON: OptionSpec = { flags: '--reason <R>', help: 'why', isRequired: true }

const OUT_FILE: OptionSpec = { flags: '--out <FILE>', help: 'where to', isRequired: true }

const INTAKE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'rates import',
    help: 'Stores published exchange rates and releases orders that waited for them.',
    options: [RATES_FILE, { flags: '--source <S>', help: 'who published them', isRequired: true }],
    run: money('importRatesCommand'),
  },
  {
    name: 'orders import',
    help:
      'Imports orders from a file; the same file again changes nothing. Of its rows it tells the ' +
      'number, and how many orders they were: imported and rejected.',
    options: [MERCHANT, ORDERS_FILE, REJECTS],
    run: money('importOrdersCommand'),
    format: formatWhole,
  },
  {
    name: 'returns import',
    help: 'Imports returns from a file; the same file again changes nothing.',
    options: [MERCHANT, RETURNS_FILE, REJECTS],
    run: money('importReturnsCommand'),
    format: formatWhole,
  },
  {
    name: 'orders held',
    help: 'Lists orders that wait for an exchange rate or for a person, the oldest thousand at most.',
    run: money('listHeldCommand'),
  },
  {
    name: 'orders show',
    help: 'Explains an order: its clicks, lines, returns and ledger entries.',
    options: [MERCHANT, ORDER],
    run: money('showOrderCommand'),
  },
  {
    name: 'orders approve',
    help: 'Approves an order that was held for review.',
    options: [MERCHANT, ORDER],
    run: money('approveOrderCommand'),
  },
  {
    name: 'orders reject',
    help: 'Rejects an order that is not locked yet.',
    options: [MERCHANT, ORDER, REASON],
    run: money('rejectOrderCommand'),
  },
  {
    name: 'import-network',
    help: 'Imports another network’s report, to be shown beside our own figures.',
    options: [
      {
        flags: '--network <N>',
        help: `its name; ready maps: ${Object.keys(READY_MAPS).join(', ')}`,
        isRequired: true,
      },
      FILE,
      {
        flags: '--map <M>',
        help:
          'name of a ready map, or a JSON file: our field to a column, or a list of columns. ' +
          `Fields: ${NETWORK_FIELDS.join(', ')}; status, decimal_separator, date_order and ` +
          'currency_code: docs/spec/networks.md. Needed are date, earnings, and sub_id (our ' +
          'click id) or publisher (a slug)',
      },
      {
        flags: '--replace-days',
        help:
          'the report is the whole of its days: remove stored lines that it lacks. Without it ' +
          'lines are merged by transaction id, or the import is refused',
      },
      REJECTS,
    ],
    run: money('importNetworkCommand'),
    format: formatWhole,
  },
]

const PAYMENT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'payment record',
    help: 'Records a merchant’s payment; shows what it releases, per publisher.',
    options: [
      MERCHANT,
      { flags: '--amount <USD>', help: 'US dollars', read: readDollars, isRequired: true },
      { flags: '--on <D>', help: 'day of the payment', read: readDay, isRequired: true },
      {
        flags: '--reference <R>',
        help: 'the bank’s reference, unique to this payment',
        isRequired: true,
      },
    ],
    run: money('recordPaymentCommand'),
  },
  {
    name: 'payment list',
    help: 'Lists the payments that were recorded.',
    options: [{ ...MERCHANT, help: 'of one merchant', isRequired: false }],
    run: money('listPaymentsCommand'),
  },
  {
    name: 'payment reverse',
    help: 'Takes back a payment that bounced, or was a mistake: its amount is owed again.',
    options: [
      MERCHANT,
      { flags: '--reference <R>', help: 'that of the payment', isRequired: true },
      REASON,
    ],
    run: money('reversePaymentCommand'),
  },
  {
    name: 'reverse',
    help: 'Reverses the payments of invalid clicks; shows the new ledger entries.',
    options: [
      { flags: '--click <ID>', help: 'one click', read: readHexId },
      { flags: '--result <NUMBER>', help: 'all clicks of an auction result', read: readHexId },
      REASON,
    ],
    oneOf: ['click', 'result'],
    run: money('reverseCommand'),
  },
]

const REPORT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'export',
    help: 'Writes a publisher’s report, one CSV file a day.',
    options: [
      { flags: '--publisher <SLUG>', help: 'whose', isRequired: true },
      {
        flags: '--report <R>',
        help: REPORT_NAMES.join(', '),
        read: readWord(...REPORT_NAMES),
        isRequired: true,
      },
      ...DAYS,
      { flags: '--out <DIR>', help: 'folder', isRequired: true },
      { flags: '--gzip', help: 'write .csv.gz' },
    ],
    run: reports('exportCommand'),
    format: formatWhole,
  },
  {
    name: 'merchant ledger',
    help: 'Writes every entry of a merchant’s account to a CSV file; shows what it owes.',
    options: [{ ...MERCHANT, flags: '--id <ID>' }, ...DAYS, OUT_FILE],
    run: reports('merchantLedgerCommand'),
  },
  {
    name: 'ledger',
    help:
      'Writes every line of the ledger to a CSV file: what merchants owe, and its recipients; each ' +
      'entry sums to zero. Shows each account’s balance before and after. A node’s late reports ' +
      'have the day they were accepted: write that day again. Payouts to publishers ' +
      'are not entries: they are in the payout files.',
    options: [...DAYS, OUT_FILE],
    run: reports('ledgerCommand'),
  },
]

const PROOF_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'reconcile',
    help: 'Recomputes every figure from the event log; exits with 1 on any difference.',
    options: [
      { flags: '--from <D>', help: 'first day (the first there is)', read: readDay },
      { flags: '--to <D>', help: 'last day (the last there is)', read: readDay },
    ],
    run: reports('reconcileCommand'),
    isRefusal: hasDifferences,
  },
]

export const MONEY_COMMANDS: readonly CommandSpec[] = [
  ...INTAKE_COMMANDS,
  ...PAYMENT_COMMANDS,
  ...REPORT_COMMANDS,
  ...PROOF_COMMANDS,
]
