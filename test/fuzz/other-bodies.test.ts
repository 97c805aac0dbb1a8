/**
 * Bad input for every other body: what pages, shops and their servers report, and what an account
 * requests or changes. Like account-endpoints.test.ts.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiKey, createUser } from '../../src/accounts/create-account.ts'
import { WhatIfBody } from '../../src/auction/result-schema.ts'
import { LinkImpressions, PageImpressions } from '../../src/events/schema.ts'
import { CheckoutBody, OrdersBody, ReturnsBody, ShopViewBody } from '../../src/orders/schema.ts'
import { signBody } from '../../src/orders/signed-request.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { utcDay } from '../../src/platform/time/timestamp.ts'
import { ReversalBody } from '../../src/stats/schema.ts'
import { WebhookBody } from '../../src/webhooks/webhook-schema.ts'
import { type Answer, startApi } from '../support/api.ts'
import { makeMarket } from '../support/market.ts'
import { answersAnything, type Endpoint, refusesLongTexts, refusesWrongTypes } from './hostile.ts'

interface SentEndpoint extends Endpoint {
  readonly key?: string
  readonly isSigned?: boolean
}

const api = await startApi({ after })
const market = await makeMarket(api)
const { key, pubId } = market.account
const merchant = await api.db.row<{ postback_secret: string }>(sql`
  select postback_secret from merchant where merch_id = ${market.kettles}`)
const operator = await createUser(api.db, {
  email: 'operator@souk.example',
  password: 'a long password',
  isAdmin: true,
})
const operatorKey = await createApiKey(api.db, {
  uid: operator.uid,
  description: 'operator',
  expiresAt: null,
  now: new Date(),
})

const page = {
  organization_type: 'publisher',
  organization_id: pubId,
  user: {
    page_session_uuid: crypto.randomUUID(),
    source_url: 'https://daily.example/fuzz',
    previous_url: 'https://daily.example/',
    consent: 'full',
    consent_source: 'tcf',
  },
}
const shop = {
  organization_type: 'merchant',
  organization_id: market.kettles,
  user: { source_url: 'https://kettles.example/thanks', previous_url: 'https://kettles.example/' },
}
const clickIds = ['ab'.repeat(16)]
const order = {
  id: 'fuzz',
  value: '10.00',
  currency: 'USD',
  click_ids: clickIds,
  cids: clickIds[0],
  is_new_customer: true,
}
const dates = { click_id: clickIds[0], ordered_at: '2026-03-01', updated_at: '2026-03-01' }
const product = {
  id: 'p',
  name: 'P',
  brand: 'B',
  image_url: 'https://kettles.example/1.jpg',
  size: 'S',
  color: 'red',
  quantity: 1,
  price: '10.00',
  currency: 'USD',
}
const endpoints: readonly SentEndpoint[] = [
  {
    path: '/api/v1/events/impressions/page_impression/',
    schema: PageImpressions,
    good: { ...page, events: [{}] },
  },
  ...['service_link_impression', 'service_link_viewable_impression'].map((type) => ({
    path: `/api/v1/events/impressions/${type}/`,
    schema: LinkImpressions,
    good: { ...page, events: [{ auction_id: '9007199254740993' }] },
  })),
  {
    path: '/api/v1/events/conversions/checkout/',
    schema: CheckoutBody,
    good: { ...shop, events: [{ order, products: [product] }] },
  },
  {
    path: '/api/v1/events/conversions/page_view/',
    schema: ShopViewBody,
    good: { ...shop, events: [{ click_ids: clickIds, is_landing: true }] },
  },
  {
    path: `/api/v1/merchants/${market.kettles}/orders/`,
    schema: OrdersBody,
    good: { orders: [{ order: { ...order, ...dates, status: 'placed' }, products: [product] }] },
    isSigned: true,
  },
  {
    path: `/api/v1/merchants/${market.kettles}/returns/`,
    schema: ReturnsBody,
    good: {
      returns: [
        {
          id: 'r',
          order_id: 'o',
          product_id: 'p',
          line: 0,
          quantity: 1,
          returned_at: '2026-03-01',
        },
      ],
    },
    isSigned: true,
  },
  {
    path: '/api/v1/what_if/',
    schema: WhatIfBody,
    key,
    good: {
      pub_id: pubId,
      date: utcDay(new Date()),
      floor: '0.10',
      category_floors: ['222=0.10'],
      tolerance: 0.05,
      beta: 1,
      require_price: false,
      pricing: 'second_price',
      allow_merchants: [market.kettles],
      block_merchants: [market.pans],
    },
  },
  {
    path: `/api/v1/publishers/${pubId}/webhooks/`,
    schema: WebhookBody,
    key,
    good: { url: 'https://hooks.example/souk', events: ['order.attributed'] },
  },
  {
    path: '/api/v1/reversals/',
    schema: ReversalBody,
    key: operatorKey.key,
    good: { click: 'ab'.repeat(16), reason: 'fuzz' },
  },
]
let sent = 0

function send({ path, key, isSigned = false }: SentEndpoint, body: unknown): Promise<Answer> {
  sent += 1
  // A signature works once, so no two bodies may be equal.
  const text = `${JSON.stringify(body)}${' '.repeat(sent % 1000)}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = () =>
    signBody(merchant?.postback_secret ?? '', timestamp, Buffer.from(text)).toString('hex')
  return api.call(path, {
    method: 'POST',
    body: text,
    headers: isSigned
      ? { 'x-souk-timestamp': timestamp, 'x-souk-signature': signature() }
      : { origin: 'https://kettles.example' },
    ...(key === undefined ? {} : { key }),
  })
}

/** State that a refused call must leave untouched. */
async function state(): Promise<unknown> {
  return api.db.row(sql`
    select (select count(*) from event) as events, (select count(*) from webhook) as webhooks`)
}

test('each endpoint accepts a valid body', async () => {
  for (const endpoint of endpoints) {
    const { status, text } = await send(endpoint, endpoint.good)
    assert.ok(status < 400 || endpoint.path.includes('reversals'), `${endpoint.path} ${text}`)
  }
})

const target = { endpoints, send, state }

test('a value of a wrong type at any place of any body is 400, named, and records nothing', async () => {
  await refusesWrongTypes(
    target,
    (type, by) => typeof by === 'number' && (type === 'number' || Number.isInteger(by)),
  )
})

test('any JSON at any place is answered without a 5xx, and refused calls record nothing', async () => {
  await answersAnything(target)
})

test('a string of a million characters at any place is refused and named', async () => {
  await refusesLongTexts(target)
})
