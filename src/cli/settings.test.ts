/**
 * Each setting goes a long way: from its option into a column, when its record is created and when
 * it is changed, and back into the printed record. A forgotten one is silently not set.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { readConfig } from '../node/config.ts'
import { CAMPAIGN_SETTINGS, MERCHANT_SETTINGS, PUBLISHER_SETTINGS } from './settings.ts'

const db = await testDatabase()
const config = readConfig({ GEO_HEADER: 'x-country' })
const world = { db, now: new Date('2026-03-02T12:00:00Z'), config }

/** Settings by their option, as printed; none equals its default. */
type Settings = Readonly<Record<string, unknown>>

async function json(...args: string[]) {
  const { out, err } = await runCommand([...args, '--json'], world)
  assert.equal(err, '')
  return JSON.parse(out)
}

function optionsOf(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (value === true) return [`--${name}`]
    const values = Array.isArray(value) ? value : [value]
    return values.map((one) => `--${name}=${one}`)
  })
}

/** `printed`: settings that are printed differently from their input. */
async function assertKept(
  kind: string,
  { id, given, printed = {} }: { id: string | null; given: Settings; printed?: Settings },
) {
  const verb = id === null ? ['create'] : ['update', `--id=${id}`]
  const record = await json(kind, ...verb, ...optionsOf(given))
  const expected = Object.entries(given).map(([name, value]) => [name.replaceAll('-', '_'), value])
  const { user: _, merchant: __, ...plain } = Object.fromEntries(expected)
  assert.partialDeepStrictEqual(record, { ...plain, ...printed })
}

/** Fails for an option without a setting: add new options here. */
function assertComplete(rows: Record<string, readonly unknown[]>, given: Settings): void {
  const names = Object.values(rows).map(([flags]) => String(flags).replace(/^--| .*$/g, ''))
  assert.deepEqual(Object.keys(given).sort(), names.sort())
}

await json('user', 'create', '--email=ann@pub.example', '--password=long enough')
await json('user', 'create', '--email=bob@pub.example', '--password=long enough')

test('a merchant keeps every setting, made with it or changed to it', async () => {
  const given = {
    name: 'Kettles',
    domain: ['kettles.example', 'kettles.test'],
    user: 'bob@pub.example',
    'click-param': 'ref',
    'deep-link': 'https://net.example/c?u={url_encoded}&sub={cid}',
    'window-days': 60,
    origin: ['https://kettles.example', 'https://pay.example'],
    'post-impression-rate': 0.01,
    'confirm-orders': true,
    'allow-second-rate': true,
    'default-currency': 'EUR',
  }
  assertComplete(MERCHANT_SETTINGS, given)
  await assertKept('merchant', { id: null, given, printed: { uid: 2 } })
  await json('merchant', 'create', '--name=Pots', '--domain=pots.example')
  const others = { ...given, domain: ['pots.test', 'pots.example'] }
  await assertKept('merchant', { id: '2', given: others, printed: { uid: 2 } })
})

test('a publisher keeps every setting, made with it or changed to it', async () => {
  const given = {
    name: 'The Daily',
    slug: 'daily',
    user: 'bob@pub.example',
    partner: true,
    share: 0.8,
    domain: ['daily.example', 'daily.test'],
    floor: '0.05',
    'category-floor': ['222=0.10', '222:GB=0.08'],
    tolerance: 0.1,
    beta: 2,
    epsilon: 0.01,
    'allow-merchant': [1],
    'block-merchant': [2],
    'linkmate-scope': 'network',
    'consent-default': 'contextual',
    'allow-host': ['host.example'],
    'require-price': true,
    'time-zone': 'Europe/Berlin',
  }
  assertComplete(PUBLISHER_SETTINGS, given)
  await assertKept('publisher', { id: null, given, printed: { uid: 2 } })
  await json('publisher', 'create', '--name=W', '--slug=weekly', '--user=ann@pub.example')
  await assertKept('publisher', { id: '2', given: { ...given, slug: 'w' }, printed: { uid: 2 } })
})

test('a campaign keeps every setting, made with it or changed to it', async () => {
  const cpc = {
    merchant: 2,
    model: 'cpc',
    bid: '0.60',
    'exclusive-bid': '0.75',
    roas: 4,
    'daily-budget': '100.00',
    budget: '1000.00',
    start: '2026-03-01T10:00:00Z',
    end: '2026-05-01T10:00:00Z',
    country: ['US', 'GB'],
    device: ['mobile', 'tablet'],
    'allow-publisher': [1],
    'block-publisher': [2],
    'tracker-impression': ['https://t.example/?r={RAND}'],
    'tracker-viewable': ['https://t.example/seen'],
    'clicks-per-address-hour': 20,
    'clicks-per-address-day': 200,
  }
  const cpa = { merchant: 2, model: 'cpa', rate: 0.08, 'second-rate': true }
  const epp = { merchant: 2, model: 'epp', payment: '1.50', 'second-rate': true }
  assertComplete(CAMPAIGN_SETTINGS, { ...cpc, ...cpa, ...epp })
  for (const given of [cpc, cpa, epp]) {
    await assertKept('campaign', { id: null, given, printed: { merch_id: 2 } })
    const other = optionsOf({ merchant: 1, model: 'epp', payment: 9 })
    const { campaign_id } = await json('campaign', 'create', ...other, '--no-second-rate')
    const changed = { payment: '', ...given }
    const printed = { merch_id: 2, payment: changed.payment || null }
    await assertKept('campaign', { id: String(campaign_id), given: changed, printed })
  }
})

test('an empty value takes a setting away, and a switch has its --no-: as if never given', async () => {
  for (const [kind, rows, kept] of [
    ['merchant', MERCHANT_SETTINGS, { name: 'Bare', domain: 'bare.example' }],
    ['publisher', PUBLISHER_SETTINGS, { name: 'B', slug: 'b', user: 'ann@pub.example' }],
    ['campaign', CAMPAIGN_SETTINGS, { merchant: 2, model: 'cpc', bid: '0.60' }],
  ] as const) {
    const bare = await json(kind, 'create', ...optionsOf(kept))
    const taken = Object.values(rows).flatMap(([flags]) => {
      const [name = ''] = flags.slice('--'.length).split(' ')
      return name in kept ? [] : [{ name, off: flags.includes('<') ? `${name}=` : `no-${name}` }]
    })
    // The first of its kind has every setting, from the tests above.
    const printed = await json(kind, 'update', '--id=1', ...taken.map(({ off }) => `--${off}`))
    for (const { name } of taken) {
      const column = name === 'user' ? 'uid' : name.replaceAll('-', '_')
      assert.deepEqual(printed[column], bare[column], `${kind} --${name}`)
      assert.notEqual(printed[column], undefined, `${kind} --${name}`)
    }
    assert.equal((await runCommand([kind, 'update'], world)).code, 2, 'which one is not guessed')
  }
})
