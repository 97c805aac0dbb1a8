/** Payments, payouts, rates, reversals and held orders of the network, over HTTP. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { KETTLE, makeMarket } from '../../test/support/market.ts'
import { clickId, MoneyEvents } from '../../test/support/money-events.ts'
import { makeNetworkApi } from '../../test/support/network-api.ts'
import { MODEL, type StoredEvent } from '../events/event.ts'
import { lastIssuableMonth } from '../ledger/statement-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
const network = await makeNetworkApi(api)
const { pubId } = market.account
const merchId = market.kettles
const auctionId = await market.link(KETTLE)
const campaignId = await market.campaign(merchId)
const events = new MoneyEvents()
const today = utcDay(Date.now())

async function append(...all: readonly StoredEvent[]): Promise<void> {
  await api.app.node.appender.append(all, { timeoutMs: 5_000 })
  await api.app.untilFolded()
}

const click = (name: string, fields: Partial<StoredEvent> = {}) =>
  events.click(name, Date.now() - 2 * DAY_MS, {
    ...{ pubId, merchId, campaignId, auctionId, model: MODEL.cpc, sharePpm: 750_000 },
    ...{ termsAmount: 400_000, reservedMicros: 400_000, ...fields },
  })

const held = (orderId: string, report = {}) =>
  events.order(orderId, Date.now() - 1_000, { merchId, report: { hold: 'review', ...report } })

const post = (path: string, body: object = {}, headers = {}) =>
  network.call(path, { body, headers, method: 'POST' })
const rowsOf = async <T = Record<string, unknown>>(path: string) =>
  (await network.call(path)).json<{ data: T[] }>().data
const codeOf = (answer: { status: number; failure(): { code: number } }) => [
  answer.status,
  answer.failure().code,
]

test('a payment is recorded once, listed, aged and reversed once', async () => {
  await append(click('paid'))
  const body = { merch_id: merchId, amount_usd: '100', paid_on: today, reference: 'march' }
  const [before] = await rowsOf('ageing/')
  assert.deepEqual([before?.merch_id, before?.owed_usd], [merchId, '0.40'])
  const headers = { 'idempotency-key': 'once' }
  const made = await post('payments/', body, headers)
  assert.equal(made.status, 201, made.text)
  const { payment_id, releases, credit_usd } = made.entry()
  assert.deepEqual(releases, [{ pub_id: pubId, earnings_usd: '0.30', items: 1 }])
  assert.equal(credit_usd, '99.60')
  assert.equal((await post('payments/', body, headers)).entry().payment_id, payment_id)
  assert.deepEqual((await post('payments/', body)).failure().fields, ['reference'])
  const audit = await network.lastAudit()
  assert.deepEqual([audit?.action, audit?.target], ['payment.record', `merchant:${merchId}`])
  const [listed] = await rowsOf(`payments/?merch_id=${merchId}`)
  assert.deepEqual([listed?.payment_id, listed?.amount_usd], [payment_id, '100.00'])
  const reversed = await post(`payments/${payment_id}/reverse/`, { reason: 'bounced' })
  assert.equal(reversed.entry().owed_usd, '0.40', reversed.text)
  assert.equal((await network.lastAudit())?.action, 'payment.reverse')
  const again = await post(`payments/${payment_id}/reverse/`, { reason: 'bounced' })
  assert.deepEqual(codeOf(again), [409, 4091])
  assert.equal((await rowsOf('payments/'))[0]?.reverse_reason, 'bounced')
})

test('a held order of any merchant is approved or rejected once', async () => {
  await append(held('held-1'), held('held-2'), held('held-3'))
  const orders = await rowsOf('orders/held/')
  assert.deepEqual(
    orders.map(({ checkout_id, hold, value }) => [checkout_id, hold, value]),
    [1, 2, 3].map((at) => [`held-${at}`, 'review', '550.00']),
  )
  const first = await network.call('orders/held/?limit=1')
  const { next_cursor } = first.json<{ next_cursor: string }>()
  const second = await rowsOf(`orders/held/?limit=1&cursor=${next_cursor}`)
  assert.deepEqual(second, [orders[1]])
  const [one, two] = orders.map(({ order_id }) => `orders/held/${order_id}/`)
  const approved = await post(`${one}approve/`)
  assert.deepEqual([approved.status, approved.entry().hold], [200, null], approved.text)
  const audit = await network.lastAudit()
  assert.deepEqual([audit?.action, audit?.after?.checkout_id], ['order.approve', 'held-1'])
  assert.deepEqual(codeOf(await post(`${one}approve/`)), [409, 4091])
  const rejected = await post(`${two}reject/`, { reason: 'fraud' })
  assert.deepEqual([rejected.entry().state, rejected.entry().reject_reason], ['REJECTED', 'fraud'])
  assert.deepEqual(codeOf(await post(`${two}reject/`, { reason: 'fraud' })), [409, 4091])
  const staff = await makeNetworkApi(api, 'staff')
  assert.equal((await staff.call(`orders/held/`)).json<{ data: [] }>().data.length, 1)
  const last = `orders/held/${orders[2]?.order_id}/approve/`
  assert.equal((await staff.call(last, { method: 'POST' })).status, 200, 'staff may decide')
})

test('rates are set, listed, and release the orders that waited', async () => {
  const waiting = { hold: 'no_rate', currency: 'JPY', value: '12800', value_micros: null } as const
  await append(held('yen', { ...waiting, rate_id: null }))
  const rates = [{ day: today, currency: 'JPY', currency_per_base: '128' }]
  const set = await post('rates/', { source: 'bank', rates })
  assert.equal(set.status, 200, set.text)
  assert.deepEqual(set.entry(), {
    ...{ rates: 1, new: 1, changed: 0, same: 0, orders_released: 1 },
  })
  assert.deepEqual((await post('rates/', { source: 'bank', rates })).entry().same, 1)
  const [rate] = await rowsOf('rates/?currency=JPY')
  assert.deepEqual(
    [rate?.source, rate?.day, rate?.usd_per_base, rate?.currency_per_base],
    ['bank', today, '1', '128'],
  )
  assert.equal((await network.lastAudit())?.action, 'rates.set')
})

test('a click is reversed once and listed', async () => {
  await append(click('bought'))
  const body = { click: clickId('bought'), reason: 'bought traffic' }
  const reversed = await post('reversals/', body)
  assert.equal(reversed.status, 201, reversed.text)
  assert.deepEqual(reversed.entry().clicks, [clickId('bought')])
  const audit = await network.lastAudit()
  assert.deepEqual([audit?.action, audit?.target], ['click.reverse', `click:${body.click}`])
  assert.deepEqual(codeOf(await post('reversals/', body)), [409, 4091])
  const [listed] = await rowsOf('reversals/')
  assert.deepEqual(
    [listed?.click_id, listed?.reason, listed?.cost_usd],
    [body.click, 'bought traffic', '0.40'],
  )
  assert.equal((await post('reversals/', { ...body, click: 'ab'.repeat(16) })).status, 404)
  await api.call('/api/v1/reversals/', {
    ...{ key: network.key, body: { click: clickId('paid'), reason: 'by the older route' } },
  })
  assert.equal((await network.lastAudit())?.target, `click:${clickId('paid')}`)
})

test('a payout is due, in the file, and confirmed as paid once', async () => {
  const month = lastIssuableMonth(new Date())
  const atMs = Date.parse(`${month}-10T12:00:00Z`)
  await append(
    events.at(atMs, { ...click('large'), termsAmount: 80_000_000, reservedMicros: 80_000_000 }),
    events.payment(atMs + 3 * DAY_MS, 80, { merchId }),
  )
  const file = `payouts/file/?month=${month}`
  assert.deepEqual(codeOf(await network.call(file)), [409, 4091])
  assert.equal((await post('statements/')).status, 200)
  assert.equal((await network.lastAudit())?.action, 'statements.issue')
  const [due] = await rowsOf('payouts/?state=due')
  assert.deepEqual([due?.pub_id, due?.amount_usd, due?.state], [pubId, '60.00', 'due'])
  const csv = await network.call(file, { headers: { accept: 'text/csv' } })
  assert.deepEqual(csv.text.trim().split(/\r?\n/), [
    'statement_id,publisher_slug,publisher_name,month,amount_usd',
    `${due?.statement_id},daily,${market.account.publishers[0]?.name},${month},60.00`,
  ])
  const path = `payouts/${due?.statement_id}/confirm/`
  const paid = await post(path, { paid_on: today, reference: 'SEPA 7' })
  assert.deepEqual([paid.entry().state, paid.entry().reference], ['paid', 'SEPA 7'], paid.text)
  assert.equal((await network.lastAudit())?.action, 'payout.confirm')
  assert.deepEqual(codeOf(await post(path, { paid_on: today })), [409, 4091])
  assert.deepEqual(await rowsOf('payouts/?state=due'), [])
  assert.equal((await post('payouts/S99999-202601/confirm/', { paid_on: today })).status, 404)
})

test('every wrong value is named with its field', async () => {
  const payment = { merch_id: merchId, amount_usd: '1', paid_on: today, reference: 'r' }
  const rate = { day: today, currency: 'EUR', currency_per_base: '0.9' }
  const long = 'x'.repeat(256)
  const cases: [path: string, good: object, field: string, values: unknown[]][] = [
    ['payments/', payment, 'merch_id', [0, 'x', 2 ** 31, undefined]],
    ['payments/', payment, 'amount_usd', ['0', '-1', 'x', '', 5, '1.0000001', undefined]],
    ['payments/', payment, 'paid_on', ['2026-02-30', '2999-01-01', 'x', '', undefined]],
    ['payments/', payment, 'reference', ['', ' ', long, 7, undefined]],
    ['payments/1/reverse/', {}, 'reason', [7, undefined]],
    ['orders/held/1/reject/', {}, 'reason', ['', long, undefined]],
    ['rates/', { source: 's' }, 'rates', [[], 'x', undefined]],
    ['rates/', { rates: [rate] }, 'source', ['', ' ', long, undefined]],
    ...(['day', 'currency', 'usd_per_base', 'currency_per_base'] as const).map(
      (name): [string, object, string, unknown[]] => [
        ...(['rates/', { source: 's' }, 'rates'] as const),
        ['', 'x', 0, '2999-01-01', '-1'].map((value) => [{ ...rate, [name]: value }]),
      ],
    ),
    ['reversals/', { click: 'ab'.repeat(16) }, 'reason', ['', long, undefined]],
    ['reversals/', { reason: 'x' }, 'click', ['', 'xyz', 'ab', 7, undefined]],
    ['reversals/', { reason: 'x' }, 'result', ['', 'xyz']],
  ]
  for (const [path, good, field, values] of cases) {
    for (const value of values) {
      const answer = await post(path, { ...good, [field]: value })
      const what = `${path} ${field} ${JSON.stringify(value)} ${answer.text}`
      assert.equal(answer.status, 400, what)
      const named = answer.failure().fields.every((name) => name.split(/[.[]/)[0] === field)
      assert.ok(named, what)
    }
  }
  const before = await api.db.row(sql`select count(*) from audit_entry`)
  for (const query of ['payouts/?month=2026-13', 'payouts/?state=x', 'payments/?merch_id=x']) {
    assert.equal((await network.call(query)).status, 400, query)
  }
  assert.deepEqual((await network.call('payouts/file/?month=2999-01')).failure().fields, ['month'])
  assert.deepEqual(await api.db.row(sql`select count(*) from audit_entry`), before)
})
