import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WEBHOOK_EVENTS } from '../webhooks/webhook.ts'
import { COMMANDS } from './commands.ts'

const PUBLISHER = [
  ...[
    'name',
    'slug',
    'user',
    'partner',
    'share',
    'domain',
    'floor',
    'category-floor',
    'tolerance',
    'beta',
    'epsilon',
  ],
  ...['allow-merchant', 'block-merchant', 'linkmate-scope', 'consent-default', 'allow-host'],
  'require-price',
]
const MERCHANT = [
  ...['name', 'domain', 'user', 'click-param', 'deep-link', 'window-days', 'origin'],
  ...['post-impression-rate', 'confirm-orders'],
]
const CAMPAIGN = [
  ...['merchant', 'model', 'bid', 'exclusive-bid', 'rate', 'payment', 'roas', 'daily-budget'],
  ...['budget', 'start', 'end', 'country', 'device', 'allow-publisher', 'block-publisher'],
  ...['tracker-impression', 'tracker-viewable'],
]

/** The documented commands, each with its options. */
const DOCUMENTED: Readonly<Record<string, readonly string[]>> = {
  serve: [],
  demo: [],
  migrate: [],
  'user create': ['email', 'password', 'admin'],
  'publisher create': PUBLISHER,
  'key create': ['user', 'description', 'expires', 'scope', 'publisher', 'merchant'],
  'member add': ['user', 'role', 'publisher', 'merchant', 'network'],
  'member remove': ['user', 'publisher', 'merchant', 'network'],
  'member list': ['publisher', 'merchant', 'network'],
  invite: ['email', 'role', 'publisher', 'merchant', 'network'],
  'key disable': ['token'],
  'merchant create': MERCHANT,
  'campaign create': CAMPAIGN,
  'publisher update': ['id', ...PUBLISHER],
  'merchant update': ['id', ...MERCHANT],
  'campaign update': ['id', ...CAMPAIGN],
  'publisher list': [],
  'merchant list': [],
  'campaign list': [],
  'user list': [],
  'key list': [],
  'link list': [],
  'link unattributed': [],
  'link disable': ['auction-id'],
  'campaign pause': ['campaign'],
  'campaign resume': ['campaign'],
  'feed import': ['merchant', 'file', 'format', 'rejects'],
  stats: ['publisher', 'from', 'to'],
  explain: ['auction-result'],
  export: ['publisher', 'report', 'from', 'to', 'out'],
  replay: ['date'],
  reverse: ['click', 'result', 'reason'],
  'rates import': ['file', 'source'],
  'import-network': ['network', 'file', 'map', 'replace-days', 'rejects'],
  'payment record': ['merchant', 'amount', 'on', 'reference'],
  'check-page': [],
  doctor: [],
}

test('every documented command exists, with every documented option', () => {
  const specs = new Map(COMMANDS.map((spec) => [spec.name, spec]))
  assert.equal(specs.size, COMMANDS.length, 'no name twice')
  for (const [name, options] of Object.entries(DOCUMENTED)) {
    const spec = specs.get(name)
    assert.ok(spec !== undefined, name)
    const flags = (spec.options ?? []).map((option) => /--[a-z-]+/.exec(option.flags)?.[0])
    for (const option of options) assert.ok(flags.includes(`--${option}`), `${name} --${option}`)
    assert.equal(new Set(flags).size, flags.length, name)
    assert.ok(spec.help.endsWith('.'), `${name} explains itself in a sentence`)
  }
  assert.equal(specs.get('check-page')?.argument, '<url>')
})

test('the help of a webhook names every event that it can receive', () => {
  const { options } = COMMANDS.find(({ name }) => name === 'webhook create') ?? {}
  const { help = '' } = options?.find(({ flags }) => flags.startsWith('--event')) ?? {}
  for (const event of WEBHOOK_EVENTS) assert.ok(help.includes(event), event)
})
