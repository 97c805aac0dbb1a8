import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { startServer } from '../../test/support/local-server.ts'
import { MoneyEvents } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { MODEL } from '../events/event.ts'
import { insertSmartLink } from '../links/store.ts'
import { guardedAgent } from '../platform/net/fetch-guard.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS, utcDay } from '../platform/time/timestamp.ts'
import { addAlertEvents, saveAlerts } from './alert-store.ts'
import { makeAlerts, postAlerts } from './send-alerts.ts'

const api = await startApi({ after }, { env: { ROLES: 'api,edge' } })
const { db } = api
const { key, pubId, uid } = await api.account()
const base = `/api/v1/publishers/${pubId}/alerts/`
const posts: string[] = []
let slackStatus = 200
const { url: slack } = await startServer({ after } as TestContext, (request, response) => {
  let text = ''
  request.on('data', (part: Buffer) => {
    text += part
  })
  request.on('end', () => {
    posts.push(text)
    response.writeHead(slackStatus).end('ok')
  })
})
const KINDS = [
  ...['link_stopped', 'merchant_trouble', 'payout_ready', 'no_tag_traffic', 'key_from_new_place'],
]
const put = (body: object, headers = {}) => api.call(base, { method: 'PUT', key, body, headers })
const settings = { kinds: KINDS, emails: ['ann@daily.example'], webhook_url: `${slack}/hook` }
const baseUrl = 'https://souk.example'
const start = Date.now()
const mails = () =>
  db.rows<{ recipient: string; subject: string; body: string }>(sql`
    select recipient, subject, body from outgoing_mail where kind = 'text' order by mail_id`)
const agent = guardedAgent({ allowPrivate: true })
after(() => agent.close())

const url = 'https://daily.example/tea'
const article = {
  ...{ pubId, uid, url, urlKey: keyOfUrl(new URL(url)), name: 'Tea', publicationDate: null },
  ...{ at: new Date(start - DAY_MS), isTrusted: true },
}
const { link } = await insertSmartLink(db, {
  ...{ article, url: 'https://shop.example/a', isExclusive: false, auctionId: '9300000000000001' },
})

test('settings are stored with their audit entry, which has no secret', async () => {
  assert.deepEqual((await api.call(base, { key })).entry().kinds, [])
  const answer = await put(settings)
  assert.equal(answer.status, 200, answer.text)
  const { kinds, emails, webhook_url } = answer.entry()
  assert.deepEqual({ kinds, emails, webhook_url }, settings)
  const entry = await db.row<{ after: object }>(sql`
    select after from audit_entry where action = 'alerts.update'`)
  assert.ok(!JSON.stringify(entry).includes('/hook'))
})

test('wrong values name their field', async () => {
  const wrong = { kinds: ['all'], emails: ['ann'], webhook_url: 'ftp://x' }
  for (const [field, value] of Object.entries(wrong)) {
    const answer = await put({ ...settings, [field]: value })
    assert.equal(answer.status, 400)
    assert.deepEqual(
      answer.failure().fields.map((name) => name.replace(/\[.*/, '')),
      [field],
    )
  }
  assert.equal((await put({ emails: [] })).status, 400)
})

test('each event is sent once, all of a kind in one message', async () => {
  const now = new Date(start)
  await db.run(sql`
    insert into link_health (auction_id, pub_id, article_id, health, since, risk_micros, checked_at)
    select auction_id, pub_id, article_id, 'no_bid', ${now}, 2500000, ${now}
    from smart_link where auction_id = ${link.auction_id}`)
  await db.run(sql`
    insert into tag_day (pub_id, day, host, consent, page_views, last_at)
    values (${pubId}, ${utcDay(start - 2 * DAY_MS)}, 'daily.example', 1, 9,
      ${new Date(start - 26 * HOUR_MS)})`)
  await db.run(sql`
    insert into statement (pub_id, month, opening_micros, released_micros, reversed_micros,
      payout_micros, closing_micros, issued_at)
    values (${pubId}, '2026-01-01', 0, 60000000, 0, 60000000, 0, ${now})`)
  const event = { kind: 'key_from_new_place', key: 'key:1', line: 'The key was used.' } as const
  await addAlertEvents(db, { pubIds: [pubId], event, at: now })
  assert.equal(await makeAlerts(db, { now, baseUrl }), 4)
  assert.equal(await makeAlerts(db, { now: new Date(start + HOUR_MS), baseUrl }), 0)
  const sent = await mails()
  assert.equal(sent.length, 4)
  const [stopped] = sent.filter(({ subject }) => subject.includes('Links stopped earning'))
  assert.match(stopped?.body ?? '', /shop\.example\/a in “Tea”: no merchant pays .* \$2\.50 a day/)
  assert.match(stopped?.body ?? '', /https:\/\/souk\.example\/dashboard\/links\?org=publisher-/)
  assert.ok(sent.every(({ recipient }) => recipient === 'ann@daily.example'))
})

test('a merchant without stock, or that owes for more than 30 days, is announced once a week', async () => {
  const log = openFoldedLog({ after }, db)
  const { publisher, merchant, ...world } = await makePublisherWorld(db)
  const [pubId, merchId] = [publisher.pub_id, merchant.merch_id]
  const { auctionId } = await world.addArticle('Mugs')
  const model = MODEL.cpc
  const own = { pubId, merchId, auctionId, model, campaignId: await world.addCampaign() }
  const events = new MoneyEvents()
  await log.record(events.click('late', start - 40 * DAY_MS, own), events.click('now', start, own))
  await db.run(sql`update merchant set feed_imported_at = now() where merch_id = ${merchId}`)
  const settings = {
    ...{ kinds: ['merchant_trouble'] as const, emails: ['bo@daily.example'], webhookUrl: null },
  }
  await saveAlerts(db, { pubId, settings, newToken: () => 'token' })
  const sent = async (atMs: number) => {
    await makeAlerts(db, { now: new Date(atMs), baseUrl })
    return (await mails()).filter(({ recipient }) => recipient === 'bo@daily.example')
  }
  const [message, ...others] = await sent(start)
  assert.equal(others.length, 0)
  assert.match(message?.body ?? '', /has nothing in stock\.\n.* owes money since \d{4}-/)
  assert.equal((await sent(start + 6 * DAY_MS)).length, 1)
  assert.equal((await sent(start + 7 * DAY_MS)).length, 2)
})

test('a webhook receives the messages, again after a failure, and no private address does', async () => {
  slackStatus = 500
  assert.equal(await postAlerts(db, { agent, now: new Date(start) }), 0)
  slackStatus = 200
  const guarded = guardedAgent({ allowPrivate: false })
  const later = new Date(start + HOUR_MS)
  assert.equal(await postAlerts(db, { agent: guarded, now: later }), 0)
  await guarded.close()
  const before = posts.length
  assert.equal(await postAlerts(db, { agent, now: new Date(start + DAY_MS) }), 4)
  assert.equal(await postAlerts(db, { agent, now: new Date(start + 2 * DAY_MS) }), 0)
  const texts = posts.slice(before).map((post) => JSON.parse(post).text as string)
  assert.equal(texts.length, 4)
  assert.ok(texts.some((text) => text.includes('$60.00 for 2026-01')))
})

test('a mail ends the messages to its address without a sign-in', async () => {
  const [mail] = await mails()
  const path =
    /https:\/\/souk\.example(\/alerts\/unsubscribe\/\S+)/.exec(mail?.body ?? '')?.[1] ?? ''
  const page = await fetch(api.url + path)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /ann@daily\.example/)
  assert.deepEqual((await api.call(base, { key })).entry().emails, ['ann@daily.example'])
  const form = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
  assert.equal((await fetch(api.url + path, form)).status, 200)
  assert.deepEqual((await api.call(base, { key })).entry().emails, [])
  assert.equal((await fetch(api.url + path, form)).status, 404)
})
