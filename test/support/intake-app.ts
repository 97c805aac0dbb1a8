/**
 * Merchants' intake in this process: real SQL, real log, the fold on request, and a clock that
 * tests may move.
 */

import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant, type Merchant } from '../../src/catalog/merchant-store.ts'
import type { LogEvent } from '../../src/events/event.ts'
import { STORAGE_QUOTAS } from '../../src/node/storage-quotas.ts'
import { checkoutRoutes } from '../../src/orders/checkout-routes.ts'
import type { IntakeDeps } from '../../src/orders/intake.ts'
import { intakeRoutes } from '../../src/orders/routes.ts'
import { signBody } from '../../src/orders/signed-request.ts'
import { UsualValues } from '../../src/orders/usual-value.ts'
import type { Http } from '../../src/platform/http/http-server.ts'
import { makeIdSource } from '../../src/platform/ids.ts'
import { StorageQuotas } from '../../src/platform/limits/storage-quota.ts'
import { addStoredBytes } from '../../src/platform/limits/storage-quota-store.ts'
import type { Database } from '../../src/platform/postgres/postgres.ts'
import { type Scope, testDatabase } from './database.ts'
import { openFoldedLog } from './fold-log.ts'
import { startQuietHttp } from './quiet-http.ts'

export interface IntakeApp {
  readonly http: Http
  readonly db: Database
  readonly merchant: Merchant
  readonly clock: { nowMs: number }
  readonly deps: IntakeDeps
  /** Folds everything in the money lane. */
  fold(): Promise<void>
  /** A signed request of the merchant's server; `changes` break it. */
  post(path: 'orders' | 'returns', body: object, changes?: SignedCall): Promise<Answer>
  checkout(body: object | string, headers?: Record<string, string>): Promise<Answer>
}

interface SignedCall {
  readonly key?: string
  readonly slash?: string // The end of the path.
  readonly timestamp?: string
  readonly secret?: string
  readonly signature?: string
}

export interface Answer {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any
}

/** An order as a shop reports it. */
export const orderEntry = (id: string, changes: object = {}, products?: readonly object[]) => ({
  order: { id, value: '550.00', currency: 'USD', ...changes },
  ...(products === undefined ? {} : { products }),
})

/** A file to import into this intake. */
export const fileOf = ({ append }: Pick<IntakeDeps, 'append'>, text: string) => ({
  text,
  append: (events: readonly LogEvent[]) => append(events, { timeoutMs: 5_000 }),
})

/** What the merchant tag sends about a reader's checkout. */
export const checkoutOf = (
  organization_id: number,
  events: readonly object[],
  user: object = {},
) => ({
  organization_type: 'merchant',
  organization_id,
  user: { source_url: 'https://shop.example/thanks', ...user },
  events,
})

export async function startIntakeApp(scope: Scope, nowMs = Date.UTC(2026, 3, 13, 12)) {
  const db = await testDatabase(scope)
  const { append, fold } = openFoldedLog(scope, db)
  const clock = { nowMs }
  const merchant = await insertMerchant(db, {
    ...MERCHANT_DEFAULTS,
    name: 'Shop',
    domains: ['shop.example'],
  })
  const ids = makeIdSource({ nodeId: 1, now: () => clock.nowMs })
  const now = () => clock.nowMs
  const quotas = new StorageQuotas({
    terms: STORAGE_QUOTAS,
    now,
    onLeftOut: () => undefined,
    add: (changes) => addStoredBytes(db, changes),
  })
  const deps = { db, append, nextId: () => ids.next(), now, quotas }
  const http = await startQuietHttp(scope)
  await http.register(intakeRoutes(deps))
  await http.register(checkoutRoutes({ ...deps, usualValues: new UsualValues(db), limits: null }))

  const post = async (path: string, body: object, changes: SignedCall = {}) => {
    const payload = Buffer.from(JSON.stringify(body))
    const timestamp = changes.timestamp ?? String(Math.floor(clock.nowMs / 1000))
    const secret = changes.secret ?? merchant.postback_secret
    const { key, signature = signBody(secret, timestamp, payload).toString('hex') } = changes
    return answerOf(
      await http.inject({
        method: 'POST',
        url: `/api/v1/merchants/${merchant.merch_id}/${path}${changes.slash ?? '/'}`,
        headers: {
          'content-type': 'application/json',
          'x-souk-timestamp': timestamp,
          'x-souk-signature': signature,
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        payload,
      }),
    )
  }
  const checkout = async (body: object | string, headers: Record<string, string> = {}) =>
    answerOf(
      await http.inject({
        method: 'POST',
        url: '/api/v1/events/conversions/checkout/',
        headers: { 'content-type': 'text/plain', origin: 'https://www.shop.example', ...headers },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
  return { http, db, merchant, clock, deps, fold, post, checkout } satisfies IntakeApp
}

function answerOf({ statusCode, body }: { statusCode: number; body: string }): Answer {
  return { status: statusCode, text: body, json: body === '' ? null : JSON.parse(body) }
}
