/** Expiry of stored data by the schedules. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { makeMarket } from '../../test/support/market.ts'
import { sql } from '../platform/postgres/sql.ts'
import { HOUR_MS } from '../platform/time/timestamp.ts'
import { SCHEDULES } from './schedules.ts'

const api = await startApi({ after })
const { account, kettles: merchId } = await makeMarket(api)

async function work(tasks: readonly string[], node = api.app.node): Promise<void> {
  for (const { work } of SCHEDULES.filter(({ task }) => tasks.includes(task))) await work(node)
}

const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS)

test('deletes refusals, deliveries and hourly link counts after their retention periods', async () => {
  const { pubId } = account
  const days = (count: number) => ago(count * 24)
  await api.db.run(sql`
    insert into refused_intake (at, merch_id, endpoint, reason, faults, body)
    select at, merch_id, 'orders', '', '[]', '' from (values
      (${days(91)}::timestamptz, ${merchId}::int), (${days(89)}, ${merchId}),
      (${days(8)}, null), (${days(6)}, null)) as refused (at, merch_id)`)
  await api.db.run(sql`
    with made as (
      insert into webhook (pub_id, url, secret, events)
      values (${pubId}, 'https://daily.example/hook', '', '{}') returning webhook_id
    )
    insert into webhook_delivery (webhook_id, event, notice_key, payload, created_at, due_at)
    select webhook_id, 'order.locked', at::text, '{}', at, due from made, (values
      (${days(181)}::timestamptz, null::timestamptz), (${days(181.5)}, ${days(181)}),
      (${days(179)}, null)) as sent (at, due)`)
  await api.db.run(sql`
    insert into keyless_link_hour (pub_id, hour, links) values
      (${pubId}, date_trunc('hour', ${days(0)}::timestamptz), 5),
      (${pubId}, date_trunc('hour', ${days(1)}::timestamptz), 5)`)
  await work(['forget_intake_requests', 'forget_deliveries', 'forget_responses'])
  const left = await api.db.row(sql`
    select (select array_agg(refused_id order by at) from refused_intake) as refused,
      (select count(*)::int from webhook_delivery) as deliveries,
      (select count(*)::int from keyless_link_hour) as hours`)
  assert.deepEqual(left, { refused: ['2', '4'], deliveries: 1, hours: 1 })
})

test('stores responses for a day, page sessions for sixty, and viewed links for three', async () => {
  const { pubId } = account
  await api.db.run(sql`
    insert into idempotent_response (caller, idempotency_key, body_hash, created_at)
    select 'key:' || token_id, at::text, '', at
    from (select min(token_id) as token_id from api_key) as owner,
      unnest(${[ago(24.1), ago(23.9)]}::timestamptz[]) as input (at)`)
  await api.db.run(sql`
    insert into dashboard_session (token_hash, uid, expires_at)
    select at::text::bytea, uid, at from (select min(uid) as uid from app_user) as owner,
      unnest(${[ago(0.1), ago(-0.1)]}::timestamptz[]) as input (at)`)
  await api.db.run(sql`
    insert into page_session (pub_id, session_key, day)
    select ${pubId}, at::text::bytea, at::date
    from unnest(${[ago(61 * 24), ago(60 * 24)]}::timestamptz[]) as input (at)`)
  await api.db.run(sql`
    insert into seen_link (session_key, auction_id, merch_id, placed_at)
    select '', row_number() over (), ${merchId}, at
    from unnest(${[ago(72.1), ago(71.9)]}::timestamptz[]) as input (at)`)
  const counts = () =>
    api.db.row(sql`
      select (select count(*)::int from idempotent_response) as responses,
        (select count(*)::int from dashboard_session) as dashboards,
        (select count(*)::int from page_session) as sessions,
        (select count(*)::int from seen_link) as links`)
  assert.deepEqual(await counts(), { responses: 2, dashboards: 2, sessions: 2, links: 2 })
  await work(['forget_responses', 'forget_page_sessions', 'forget_seen_links'])
  assert.deepEqual(await counts(), { responses: 1, dashboards: 1, sessions: 1, links: 1 })
})

test('stores a page session no longer than its views', async () => {
  const { node } = api.app
  await api.db.run(sql`delete from page_session`)
  await api.db.run(sql`
    insert into page_session (pub_id, session_key, day)
    select ${account.pubId}, days::text::bytea, (now() at time zone 'utc')::date - days
    from unnest('{31, 32}'::int[]) as days`)
  const retentionDays = 31
  await work(['forget_page_sessions'], { ...node, config: { ...node.config, retentionDays } })
  const left = await api.db.rows(sql`
    select (now() at time zone 'utc')::date - day as days from page_session`)
  assert.deepEqual(left, [{ days: 31 }])
})

test('stores audit entries for 400 days, and ended invitations for thirty', async () => {
  const { pubId } = account
  const days = [ago(401 * 24), ago(399 * 24), ago(31 * 24), ago(29 * 24)]
  await api.db.run(sql`
    insert into audit_entry (at, through, action, target)
    select at, 'cli', 'test.forget', '' from unnest(${days}::timestamptz[]) as input (at)`)
  await api.db.run(sql`
    insert into invitation (pub_id, email, role, token_hash, datetime_created, datetime_updated,
      datetime_expires)
    select ${pubId}, 'a@x.example', 'viewer', sha256(at::text::bytea), at, at, at
    from unnest(${days}::timestamptz[]) as input (at)`)
  await work(['forget_people'])
  const left = await api.db.row(sql`
    select (select count(*)::int from audit_entry where action = 'test.forget') as entries,
      (select count(*)::int from invitation) as invitations`)
  assert.deepEqual(left, { entries: 3, invitations: 1 })
})
