/**
 * Commands beside a running service take effect within 2 seconds.
 *
 * Commands run here over their own connection, like another process; the service learns of them
 * only from the database.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/platform/postgres/postgres.ts'
import { AUCTION_URL, startApi } from '../support/api.ts'
import { BROWSER } from '../support/app.ts'
import { makeCampaign, makeMerchant } from '../support/catalogue.ts'
import { runCommand } from '../support/commands.ts'
import { ownMs } from '../support/process-time.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const EFFECT_MS = 2_000
const api = await startApi({ after })
const ann = await api.account({ is_partner: true })
const shop = await makeMerchant(api.db, {
  name: 'Shop',
  domain: 'shop.example',
  offers: [{ id: '1', link: 'https://shop.example/1', gtin: '9521000000018' }],
})
const rival = await makeMerchant(api.db, {
  name: 'Rival',
  domain: 'rival.example',
  offers: [{ id: '1', link: 'https://rival.example/1', gtin: '9521000000018' }],
})
const campaign = await makeCampaign(api.db, shop.merchId)
await api.untilKnown(campaign)
const auctionId = await createLink()

async function createLink(): Promise<string> {
  const article = { article_name: 'A', article_url: 'https://daily.example/a' }
  const answer = await api.call('/api/v1/smart_links/', {
    key: ann.key,
    body: { ...article, url: 'https://shop.example/1' },
  })
  return answer.entry<{ auction_id: string }>().auction_id
}

/** Runs a command like another process; returns its JSON. */
async function souk(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { connection } = api.db
  const db = openDatabase({ connection, applicationName: 'a command' })
  const world = { db, now: new Date(), config: api.app.config }
  const { code, out, err } = await runCommand([...args, '--json'], world).finally(db.close)
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

interface AuctionEntry {
  readonly auction_result: {
    readonly redirect_url: string
    readonly product?: { readonly price: string; readonly merchant: { readonly id: number } }
  }
}

/** The page that a new auction leads a reader to: the merchant's page with its click id. */
async function landing(): Promise<URL> {
  const answer = await api.call(`/api/v1/auction/?a=${auctionId}&uuid=${randomUUID()}`, {
    headers: { 'user-agent': BROWSER },
  })
  const { auction_result: result } = answer.entry<AuctionEntry>()
  await sleep(310) // The service treats a click within 300 ms as a program's.
  const redirect = await api.app.get(result.redirect_url.slice(AUCTION_URL.length))
  return new URL(redirect.headers.get('location') ?? '')
}

/** Runs a command and waits until its effect is visible, within 2 seconds. */
async function effectOf<T>(args: readonly string[], see: () => Promise<T>, wanted: T) {
  await souk(...args)
  const started = ownMs()
  let seen = await see()
  while (JSON.stringify(seen) !== JSON.stringify(wanted)) {
    const elapsed = ownMs() - started
    assert.ok(elapsed < EFFECT_MS, `${args.join(' ')}: ${JSON.stringify(seen)} after ${elapsed} ms`)
    await sleep(20)
    seen = await see()
  }
}

/** Whether a campaign pays for the link's clicks, and whose page they reach. */
async function paidLanding() {
  const url = await landing()
  return { host: url.hostname, isPaid: url.searchParams.has('cid') }
}
const PAID = { host: 'shop.example', isPaid: true }
const UNPAID = { host: 'shop.example', isPaid: false }

test('pausing and resuming a campaign takes effect', async () => {
  const id = ['--campaign', String(campaign.campaign_id)]
  assert.deepEqual(await paidLanding(), PAID)
  await effectOf(['campaign', 'pause', ...id], paidLanding, UNPAID)
  await effectOf(['campaign', 'resume', ...id], paidLanding, PAID)
})

test('changing and creating a campaign takes effect', async () => {
  const id = ['--id', String(campaign.campaign_id)]
  const block = ['--block-publisher', String(ann.pubId)]
  await effectOf(['campaign', 'update', ...id, ...block], paidLanding, UNPAID)
  await effectOf(['campaign', 'update', ...id, '--block-publisher='], paidLanding, PAID)
  const richer = ['--merchant', String(rival.merchId), '--model', 'cpc', '--bid', '2']
  const atRival = { host: 'rival.example', isPaid: true }
  await effectOf(['campaign', 'create', ...richer], paidLanding, atRival)
})

test('changing a publisher takes effect', async () => {
  const id = ['publisher', 'update', '--id', String(ann.pubId)]
  await effectOf([...id, '--block-merchant', String(rival.merchId)], paidLanding, PAID)
  const linkmate = async () =>
    (
      await api.call(`/api/v1/publishers/${ann.pubId}/linkmate/smart_links/`, {
        body: { article: { name: 'A', url: 'https://daily.example/a' }, links: [] },
      })
    ).status
  await effectOf([...id, '--no-partner'], linkmate, 403)
  await effectOf([...id, '--partner'], linkmate, 200)
})

test('changing a merchant takes effect', async () => {
  const parameters = async () => [...(await landing()).searchParams.keys()]
  const id = ['merchant', 'update', '--id', String(shop.merchId)]
  await effectOf([...id, '--click-param', 'ref_id'], parameters, ['ref_id'])
  await effectOf([...id, '--click-param', 'cid'], parameters, ['cid'])
})

test('importing a feed takes effect, with a new price and then without the product', async () => {
  const product = async () => {
    const answer = await api.call(`/api/v1/auction/?a=${auctionId}&uuid=${randomUUID()}`, {
      headers: { 'user-agent': BROWSER },
    })
    const { product: found } = answer.entry<AuctionEntry>().auction_result
    return found === undefined ? null : { merchant: found.merchant.id, price: found.price }
  }
  const folder = await temporaryFolder({ after }, 'souk operator ')
  const feed = join(folder, 'feed.csv')
  const line = (id: string, gtin: string, price: string) =>
    `${id},Kettle,https://shop.example/${id},${price} USD,in stock,${gtin}\n`
  const args = ['feed', 'import', '--merchant', String(shop.merchId), '--file', feed]
  const write = (rows: string) => writeFile(feed, `id,title,link,price,availability,gtin\n${rows}`)
  const block = ['publisher', 'update', '--id', String(ann.pubId), '--block-merchant']
  await souk(...block, String(rival.merchId))

  await write(line('1', '9521000000018', '12.34'))
  await effectOf(args, product, { merchant: shop.merchId, price: '12.34' })
  await write(line('2', '9521000000025', '1.00'))
  await effectOf(args, product, null)
  await write(line('1', '9521000000018', '12.50'))
  await effectOf(args, product, { merchant: shop.merchId, price: '12.50' })
  await souk(...block.slice(0, -1), '--block-merchant=')
})

test('disabling a link takes effect', async () => {
  await effectOf(['link', 'disable', '--auction-id', auctionId], paidLanding, UNPAID)
})

test('creating a publisher and a key, and disabling the key, takes effect', async () => {
  const email = `${randomUUID()}@pub.example`
  await souk('user', 'create', '--email', email, '--password', 'a long password')
  const names = ['--name', 'New', '--slug', 'new', '--user', email]
  const { pub_id } = await souk('publisher', 'create', ...names)
  const { key, token_id } = await souk('key', 'create', '--user', email, '--description', 'k')
  const status = async () => (await api.call('/api/v1/tokeninfo/', { key: String(key) })).status
  assert.equal(await status(), 200)
  const impression = async () =>
    (
      await api.call('/api/v1/events/impressions/page_impression/', {
        body: {
          organization_type: 'publisher',
          organization_id: pub_id,
          user: { page_session_uuid: randomUUID(), source_url: 'https://new.example/' },
          events: [{}],
        },
      })
    ).status
  await effectOf(['publisher', 'list'], impression, 201)
  await effectOf(['key', 'disable', '--token', String(token_id)], status, 401)
})

test("a new password ends its user's sessions, and the old one no longer works", async () => {
  const [email, old, fresh] = [`${randomUUID()}@pub.example`, 'the old password', 'the new one']
  const { uid } = await souk('user', 'create', '--email', email, '--password', old)
  const logIn = (password: string) => api.call('/api/v1/session/', { body: { email, password } })
  const [cookie = ''] = ((await logIn(old)).headers.get('set-cookie') ?? '').split(';', 1)
  const me = async () => (await api.call('/api/v1/me/', { headers: { cookie } })).status
  const update = (...changes: string[]) => souk('user', 'update', '--id', String(uid), ...changes)
  const other = `${randomUUID()}@pub.example` // The network keeps an administrator.
  await souk('user', 'create', '--email', other, '--password', old, '--admin')
  assert.equal((await update('--admin')).admin, true)
  assert.equal(await me(), 200, 'other changes end no session')
  assert.equal((await update('--password', fresh, '--no-admin')).admin, false)
  assert.deepEqual([await me(), (await logIn(old)).status], [401, 401])
  assert.equal((await logIn(fresh)).status, 200)
})

test('the operator gives a user a link for a new password, and removes lost factors', async () => {
  const email = `${randomUUID()}@pub.example`
  const { uid } = await souk('user', 'create', '--email', email, '--password', 'the old password')
  const link = await souk('user', 'reset-password', '--email', email)
  assert.equal(link.uid, uid)
  const [, token] = String(link.reset_url).split('/dashboard/new-password#token=')
  const body = { token, password: 'an unusual sentence' }
  assert.equal((await api.call('/api/v1/session/password/', { body })).status, 200)
  const removed = await souk('user', 'reset-second-factor', '--email', email)
  assert.deepEqual(removed.removed, { totp: false, passkeys: 0, recovery_codes: 0 })
})
