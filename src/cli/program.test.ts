import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import manifest from '../../package.json' with { type: 'json' }
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { readConfig } from '../node/config.ts'
import { openDatabase } from '../platform/postgres/postgres.ts'
import { identifier, sql } from '../platform/postgres/sql.ts'
import { COMMANDS } from './commands.ts'

const db = await testDatabase()

const souk = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommand(args, { db, config: readConfig(env), now: new Date('2026-03-02T12:00:00Z') })

async function json(...args: string[]) {
  const { code, out, err } = await souk([...args, '--json'])
  assert.equal(err, '')
  assert.equal(code, 0)
  return JSON.parse(out)
}

test('every command has --help and --json', async () => {
  for (const { name } of COMMANDS) {
    const { code, out } = await souk([...name.split(' '), '--help'])
    assert.equal(code, 0, name)
    assert.match(out, /--json/, name)
    assert.match(out, /--help/, name)
  }
  assert.equal((await souk(['--help'])).code, 0)
})

test('help for an unknown command is a usage error that names it', async () => {
  const unknown = ['fly --help', 'fly -h', '--help fly', 'help fly', 'help fly high']
  const inGroup = ['user fly --help', 'user --help fly', 'help user fly', 'user help fly']
  for (const args of [...unknown, ...inGroup]) {
    const { code, out, err } = await souk(args.split(' '))
    assert.deepEqual({ code, out }, { code: 2, out: '' }, args)
    assert.match(err, /^error: unknown command 'fly'/, args)
  }
})

test('every way to ask for help prints the same', async () => {
  const ways = {
    '--help': ['help', '-h', 'help --help'],
    'user --help': ['help user', 'user help'],
    'user create --help': ['help user create', 'user help create', 'user create x -h'],
    'reverse --help': ['help reverse', 'reverse x --help'],
  }
  for (const [usual, others] of Object.entries(ways)) {
    const expected = await souk(usual.split(' '))
    assert.equal(expected.code, 0, usual)
    for (const args of others) assert.deepEqual(await souk(args.split(' ')), expected, args)
  }
})

test('a value that looks like --help is not a request for help', async () => {
  const named = ['user', 'create', '--password=long enough', '--email', 'help']
  assert.match((await souk(named)).err, /^email: /)
  const page = ['check-page', 'help', '--chromium', '/nowhere']
  assert.equal((await souk(page)).code, 1, 'refused by the command itself')
})

test('a command that writes reports a read-only database as such, not as unreachable', async (t) => {
  const own = await testDatabase(scopeOf(t))
  const { connection } = own
  const database = identifier(String(connection.database))
  await own.run(sql`alter database ${database} set default_transaction_read_only to on`)
  const readOnly = openDatabase({ connection, applicationName: 'test' })
  t.after(() => readOnly.close())
  const words = ['user', 'create', '--email', 'a@example.com', '--password', 'long enough']
  const { code, err } = await runCommand(words, { db: readOnly, now: new Date() })
  assert.equal(code, 1)
  assert.match(err, /^The database takes no writes, as a standby or by a setting: see souk doctor/)
})

test('--version prints the version of the package', async () => {
  const { version } = manifest
  for (const flag of ['--version', '-V']) {
    assert.deepEqual(await souk([flag]), { code: 0, out: `${version}\n`, err: '' })
  }
})

test("the help of an import names its file's columns", async () => {
  const columns = { orders: /order_id,\s+value,/, returns: /return_id,\s+order_id,/, rates: /date/ }
  for (const [kind, named] of Object.entries(columns)) {
    assert.match((await souk([kind, 'import', '--help'])).out, named)
  }
})

test('a usage error exits with 2, names the mistake and prints nothing on stdout', async () => {
  const wrong = [
    ['fly'],
    ['user', 'create', '--email', 'a@b.example'],
    ['user', 'create', '--email', 'a@b.example', '--password', 'long enough', '--colour', 'red'],
    ['campaign', 'create', '--merchant', 'x', '--model', 'cpc'],
    ['campaign', 'create', '--merchant', '1', '--model', 'cpm'],
    ['campaign', 'create', '--merchant', '1', '--model', 'cpc', '--bid', '0,60'],
    ['campaign', 'create', '--merchant', '1', '--model', 'cpc', '--end', 'tomorrow'],
    ['key', 'disable', '--token', '1e3'],
    ['link', 'disable', '--auction-id', '5x'],
    ['webhook', 'replay', '--delivery', '05'],
    ['reverse', '--reason', 'robots', '--click', 'zz'],
    ['reverse', '--reason', 'robots', '--result', '0'.repeat(31)],
    ['explain', '--auction-result', 'nope'],
    ['publisher', 'update', '--id', '1', '--category-floor', 'shoes=0.10'],
    ['user', 'list', 'extra'],
    ['reverse', '--reason', 'robots'],
    ['reverse', '--reason', 'robots', '--click', '0'.repeat(32), '--result', '0'.repeat(32)],
    [
      'export',
      '--publisher=p',
      '--report=views',
      '--from=2026-03-02',
      '--to=2026-03-02',
      '--out=x',
    ],
  ]
  for (const args of wrong) {
    const { code, out, err } = await souk(args)
    assert.equal(code, 2, args.join(' '))
    assert.equal(out, '', args.join(' '))
    assert.notEqual(err, '', args.join(' '))
  }
})

test('help and errors list every required option, a misspelled option first', async () => {
  const { out } = await souk(['merchant', 'ledger', '--help'])
  assert.match(
    out,
    /\nRequired:\n {2}--id .*\n {2}--from .*\n {2}--to .*\n {2}--out .*\n\nOptions:\n/,
  )
  assert.match(
    (await souk(['reverse', '--help'])).out,
    /\nOne of these:\n {2}--click .*\n {2}--result /,
  )
  const refused = {
    'merchant ledger': 'give --id <ID>, --from <D>, --to <D>, --out <FILE>',
    'merchant ledger --to 2026-03-02 --id 1': 'give --from <D>, --out <FILE>',
    'merchant ledger --merchant 1': "unknown option '--merchant'",
    reverse: 'give --reason <R>, either --click or --result',
  }
  for (const [args, words] of Object.entries(refused)) {
    const { code, err } = await souk(args.split(' '))
    assert.equal(code, 2, args)
    assert.equal(err.split('\n')[0], `error: ${words}`)
  }
})

test('an account is set up from the command line, with the documented records', async () => {
  const credentials = ['--email', 'ann@pub.example', '--password', 'long enough']
  const user = await json('user', 'create', ...credentials, '--admin')
  assert.deepEqual(user, { uid: 1, email: 'ann@pub.example' })
  const names = ['--name', 'The Daily', '--slug', 'daily', '--user', 'ann@pub.example']
  const settings = ['--partner', '--share', '0.8', '--floor', '0.05', '--domain', 'a.example']
  const publisher = await json('publisher', 'create', ...names, ...settings, '--domain=b.example')
  assert.equal(publisher.pub_id, 1)
  assert.deepEqual(
    { slug: publisher.slug, name: publisher.name, partner: publisher.partner },
    { slug: 'daily', name: 'The Daily', partner: true },
  )
  assert.equal(publisher.share, 0.8)
  assert.equal(publisher.floor, '0.05')
  assert.deepEqual(publisher.domain, ['a.example', 'b.example'])
  const floors = ['--category-floor', '222=0.10', '--category-floor', '222:gb=0.08']
  const floored = await json('publisher', 'update', '--id=1', ...floors)
  assert.deepEqual(floored.category_floor, ['222=0.10', '222:GB=0.08'])
  const updated = await json('publisher', 'update', '--id=1', '--no-partner', '--domain=')
  assert.deepEqual(updated.category_floor, floored.category_floor)
  assert.deepEqual(updated.domain, [])
  assert.equal(updated.partner, false)
  assert.equal(updated.share, 0.8)
  assert.deepEqual(await json('publisher', 'list'), [updated])
  const renamed = await souk(['publisher', 'update', '--id=1', '--slug=weekly'])
  assert.match(renamed.err, /that say daily earn nothing until they say weekly/)
  assert.equal((await souk(['publisher', 'update', '--id=1', '--slug=Weekly'])).err, '')
  await json('publisher', 'update', '--id=1', '--slug=daily')

  const owner = ['--user', 'ann@pub.example', '--description', 'my key']
  const key = await json('key', 'create', ...owner, '--expires', '2027-01-01')
  assert.match(key.key, /^souk_/)
  assert.deepEqual(Object.keys(key), ['token_id', 'uid', 'key'])
  const [listed] = await json('key', 'list')
  assert.equal(listed.datetime_expires, '2027-01-01T00:00:00Z')
  assert.ok(!JSON.stringify(listed).includes('souk_'))
  const disabled = await json('key', 'disable', '--token', String(key.token_id))
  assert.deepEqual(disabled, { token_id: key.token_id, is_enabled_by_user: false })
  assert.equal((await json('user', 'list')).length, 1)
})

test('a merchant and its campaign are set up from the command line', async () => {
  const shop = ['--name', 'Shop', '--domain', 'shop.example']
  const merchant = await json('merchant', 'create', ...shop)
  assert.equal(merchant.merch_id, 1)
  assert.equal(typeof merchant.postback_secret, 'string')
  assert.equal((await json('merchant', 'list'))[0].postback_secret, undefined)
  const own = ['--click-param', 'ref', '--window-days', '60']
  const set = await json('merchant', 'update', '--id=1', ...own)
  assert.deepEqual([set.click_param, set.window_days], ['ref', 60])
  const usual = await json('merchant', 'update', '--id=1', '--click-param=', '--window-days=')
  assert.deepEqual([usual.click_param, usual.window_days], ['cid', 30], 'taken away')
  assert.equal(usual.postback_secret, merchant.postback_secret)
  const renewed = await json('merchant', 'update', '--id=1', '--new-secret')
  assert.notEqual(renewed.postback_secret, merchant.postback_secret)
  assert.equal(renewed.postback_secret.length, merchant.postback_secret.length)
  const prices = ['--bid', '0.60', '--exclusive-bid', '0.75', '--daily-budget', '100']
  const lists = ['--device', 'mobile,desktop', '--tracker-impression', 'https://t.example/?a=1,2']
  const model = ['--merchant', '1', '--model', 'cpc']
  const campaign = await json('campaign', 'create', ...model, ...prices, ...lists)
  assert.equal(campaign.bid, '0.60')
  assert.equal(campaign.daily_budget, '100.00')
  assert.deepEqual(campaign.device, ['mobile', 'desktop'])
  assert.deepEqual(campaign.tracker_impression, ['https://t.example/?a=1,2'])
  const id = ['--campaign', String(campaign.campaign_id)]
  const paused = { campaign_id: campaign.campaign_id, state: 'paused' }
  assert.deepEqual(await json('campaign', 'pause', ...id), paused)
  assert.deepEqual(await json('campaign', 'resume', ...id), { ...paused, state: 'active' })
  const changed = await json('campaign', 'update', '--id=1', '--daily-budget=')
  assert.equal(changed.daily_budget, null)
  const nothing = { spent: '0.00', spent_today: '0.00', over_cap: '0.00' }
  assert.deepEqual(await json('campaign', 'list'), [{ ...changed, ...nothing }])
})

test('a campaign that has ended can be changed without repeating its end', async () => {
  await db.run(sql`
    update campaign set ends_at = '2026-03-01', countries = '{US}' where campaign_id = 1`)
  const { bid } = await json('campaign', 'update', '--id=1', '--bid', '0.50')
  assert.equal(bid, '0.50')
  const { err } = await souk(['campaign', 'update', '--id=1', '--end', '2026-03-01T12:00:00Z'])
  assert.match(err, /^end: is in the past/)
  await json('campaign', 'update', '--id=1', '--bid', '0.60', '--end=', '--country=')
})

test('contradicting lists of campaigns and publishers are reported on both sides', async () => {
  const both = async () => {
    const [publishers, campaigns] = [
      await json('publisher', 'list'),
      await json('campaign', 'list'),
    ]
    assert.deepEqual(publishers[0].conflicts, campaigns[0].conflicts)
    return campaigns[0].conflicts
  }
  assert.deepEqual(await both(), [])
  await json('campaign', 'update', '--id=1', '--allow-publisher=1')
  assert.deepEqual(await both(), [], 'both allow all')
  const leftOut = ['campaign 1 allows publisher 1, which leaves merchant 1 out']
  const blocking = await json('publisher', 'update', '--id=1', '--block-merchant=1')
  assert.deepEqual(blocking.conflicts, leftOut)
  assert.deepEqual(await both(), leftOut)
  const other = await json('merchant', 'create', '--name', 'Other', '--domain', 'other.example')
  const lists = ['--block-merchant=', `--allow-merchant=${other.merch_id}`]
  assert.deepEqual((await json('publisher', 'update', '--id=1', ...lists)).conflicts, leftOut)
  await json('publisher', 'update', '--id=1', '--allow-merchant=1')
  assert.deepEqual(await both(), [])
  const open = ['--allow-publisher=', '--block-publisher=1']
  const { conflicts } = await json('campaign', 'update', '--id=1', ...open)
  assert.deepEqual(conflicts, ['publisher 1 allows merchant 1, whose campaign 1 blocks it'])
  await json('publisher', 'update', '--id=1', '--allow-merchant=')
  assert.deepEqual(await both(), [], 'who only blocks contradicts nobody')
  await json('campaign', 'update', '--id=1', '--block-publisher=')
})

test('a floor above the bid of a campaign that names the publisher is reported on both sides', async () => {
  const warnings = ['campaign 1 allows publisher 1, whose floor is above its bid']
  const naming = ['--id=1', '--allow-publisher=1', '--bid', '0.60', '--exclusive-bid=']
  await json('publisher', 'update', '--id=1', '--floor', '0.600001')
  assert.deepEqual((await json('campaign', 'update', ...naming)).conflicts, warnings)
  const [publisher] = await json('publisher', 'list')
  assert.deepEqual(publisher.conflicts, warnings)
  const exclusive = ['--id=1', '--exclusive-bid', '0.75']
  assert.deepEqual((await json('campaign', 'update', ...exclusive)).conflicts, [])
  await json('campaign', 'update', '--id=1', '--exclusive-bid=')
  assert.deepEqual((await json('publisher', 'update', '--id=1', '--floor=0.60')).conflicts, [])
  await json('publisher', 'update', '--id=1', '--floor', '0')
  await json('campaign', 'update', '--id=1', '--allow-publisher=')
})

test('a delivery folder is relative to the folder of the command', async () => {
  const { target } = await json('delivery', 'create', '--publisher', 'daily', '--to', 'out/daily')
  assert.equal(target, resolve('out/daily'))
  assert.equal((await json('delivery', 'list'))[0].target, target)
})

test('a refused value exits with 1 and every reason on stderr', async () => {
  const model = ['campaign', 'create', '--merchant', '9', '--model', 'cpc', '--json']
  const { code, out, err } = await souk([...model, '--bid', '0.001', '--country', 'us'])
  assert.equal(code, 1)
  assert.equal(out, '')
  assert.match(err, /^bid: .*\ncountry: .*GEO_HEADER.*\nmerchant: no merchant 9\n$/)
  const known = await souk([...model, '--bid', '1', '--country', 'us'], {
    GEO_HEADER: 'cf-country',
  })
  assert.equal(known.err, 'merchant: no merchant 9\n')
  assert.equal((await souk(['key', 'disable', '--token', '99'])).err, 'No key 99\n')
})

test('without --json people get a table or a list of fields', async () => {
  const { out } = await souk(['campaign', 'list'])
  assert.match(out, /^campaign_id {2}merch_id {2}state/)
  assert.match((await souk(['campaign', 'resume', '--campaign', '1'])).out, /^state +active$/m)
  assert.equal((await souk(['user', 'list'])).out.split('\n').length, 3)
})

test('a link is listed, disabled for good, and an unknown one refused', async () => {
  const [publisher] = await json('publisher', 'list')
  await db.run(sql`
    with article as (
      insert into article (pub_id, uid, url, url_key, name)
      values (${publisher.pub_id}, ${publisher.uid}, 'https://a.example/1', '\\x01', 'One')
      returning article_id, pub_id
    )
    insert into smart_link (auction_id, pub_id, article_id, url_hash, source)
    select 312345678901234567, pub_id, article_id, '\\x01', 'api' from article
  `)
  const [link] = await json('link', 'list')
  assert.equal(link.auction_id, '312345678901234567')
  assert.equal(link.state, 'active')
  const disabled = { auction_id: '312345678901234567', state: 'disabled' }
  const id = ['link', 'disable', '--auction-id', '312345678901234567']
  assert.deepEqual(await json(...id), disabled)
  assert.deepEqual(await json(...id), disabled)
  assert.equal((await json('link', 'list'))[0].state, 'disabled')
  assert.equal((await souk(['link', 'disable', '--auction-id', '5'])).code, 1)
})

test("statistics are the API's rows, also for a single day", async () => {
  const [publisher] = await json('publisher', 'list')
  await db.run(sql`
    insert into stats_day (day, pub_id, article_id, merch_id, clicks, earnings_micros)
    select '2026-03-02', pub_id, article_id, 1, 3, 1350000 from article
  `)
  const rows = (from: string, to: string) =>
    json('stats', '--publisher', publisher.slug.toUpperCase(), '--from', from, '--to', to)
  const [row, ...rest] = await rows('2026-03-02', '2026-03-02')
  assert.equal(rest.length, 0)
  assert.deepEqual(
    [row.event_date, row.clicks, row.pub_earnings, row.advertiser_name, row.article_name],
    ['2026-03-02', 3, '1.35', 'Shop', 'One'],
  )
  assert.deepEqual(await rows('2026-03-03', '2026-03-09'), [])
  const stats = ['stats', '--publisher', 'nobody', '--from', '2026-03-02']
  assert.equal((await souk([...stats, '--to', '2026-03-03'])).code, 1)
  assert.equal((await souk([...stats, '--to', '2026-03'])).code, 2)
})

test("the command prints all statistics, even beyond the API's limit", async () => {
  const [sold, seen] = [10_001, 150_000]
  await db.run(sql`
    insert into stats_day (day, pub_id, article_id, merch_id, clicks, earnings_micros)
    select date '2100-01-01' + day, pub_id, article_id, 1, 3, 1350000
    from article cross join generate_series(1, ${sold}) as day`)
  await db.run(sql`
    insert into page_day (day, pub_id, url_key, impressions)
    select date '2200-01-01' + day, pub_id, url_key, 1
    from article cross join generate_series(1, ${seen}) as day`)
  await db.run(sql`analyze`)
  const [{ slug }] = await json('publisher', 'list')
  const all = await json('stats', '--publisher', slug, '--from', '2100-01-01', '--to', '2900-01-01')
  assert.equal(all.length, sold + seen)
})

test('days in the wrong order are refused by every command', async () => {
  for (const command of [
    'stats --publisher=p',
    'export --publisher=p --report=clicks --out=x',
    'merchant ledger --id=1 --out=x',
    'ledger --out=x',
    'reconcile',
    'evaluate',
  ]) {
    const days = ['--from=2026-03-02', '--to=2026-03-01']
    const { code, err } = await souk([...command.split(' '), ...days])
    assert.deepEqual([code, err], [1, 'to: must not be before from\n'], command)
  }
})

test('explain names an unknown result, and replay finds no difference', async () => {
  const unknown = '00'.repeat(16)
  const { code, err } = await souk(['explain', '--auction-result', unknown])
  assert.deepEqual([code, err], [1, `No receipt and no click of result ${unknown}\n`])
  const result = await json('replay', '--date', '2026-03-02')
  assert.deepEqual(result, { auctions: 0, differences: [], other_rules: 0 })
})

test('closing the output early stops nothing else', async () => {
  const program = join(import.meta.dirname, '../../bin/souk.mjs')
  // `true` exits at once and reads nothing.
  const command = '"$0" "$1" --help | true'
  const { stderr } = await promisify(execFile)('sh', ['-c', command, process.execPath, program])
  assert.equal(stderr, '')
})
