/**
 * Calls to the service over a socket, for contract tests: create users, publishers and keys, send a
 * request, read an answer.
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey, createUser } from '../../src/accounts/create-account.ts'
import { PUBLISHER_DEFAULTS, type PublisherSettings } from '../../src/accounts/publisher.ts'
import { insertPublisher, type Publisher } from '../../src/accounts/publisher-store.ts'
import type { Database } from '../../src/platform/postgres/postgres.ts'
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts'
import type { Scope } from './database.ts'

export const LINK_URL = 'https://go.souk.example'
export const AUCTION_URL = 'https://auction.souk.example'
export const BASE_URL = 'https://souk.example'

export interface Api {
  readonly db: Database
  readonly app: TestApp
  readonly url: string
  /** Sends a request. A JSON body is serialized; a text is sent as it is. */
  call(path: string, options?: CallOptions): Promise<Answer>
  /** A user with a key, and publishers with these settings and otherwise the defaults. */
  account(...publishers: Partial<PublisherSettings>[]): Promise<Account>
  /** Waits until the edge has received a campaign by notification, within 2 s. */
  untilKnown(campaign: { campaign_id: number }): Promise<void>
}

export interface CallOptions {
  readonly method?: string
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; throws if it is not JSON. */
  json<T = unknown>(): T
  /** The first entry of `data`. */
  entry<T = Readonly<Record<string, unknown>>>(): T
  /** The `error` of a failure, with the fields of its faults. */
  failure(): { code: number; message: string; data: unknown; fields: string[] }
}

export interface Account {
  readonly uid: number
  readonly email: string
  readonly password: string
  readonly key: string
  readonly tokenId: number
  readonly publishers: readonly Publisher[]
  readonly pubId: number // The first publisher's id.
}

/** The whole service under its own public URLs; `options` as for `startTestApp`. */
export async function startApi(scope: Scope, options: TestAppOptions = {}): Promise<Api> {
  const env = { LINK_URL, AUCTION_URL, BASE_URL, CORS_ORIGINS: 'https://tools.example' }
  const app = await startTestApp(scope, { ...options, env: { ...env, ...options.env } })
  const db = app.node.database
  const now = () => new Date(app.node.now())
  return {
    app,
    db,
    url: app.url,
    call: caller(app.url),
    account: accountMaker(app, now),
    untilKnown: async ({ campaign_id }) => {
      while (!app.node.edge.market.campaigns.has(campaign_id)) await sleep(10)
    },
  }
}

function caller(url: string): Api['call'] {
  return async (path, { method, key, body, headers = {} } = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const authorization = key === undefined ? {} : { authorization: `SERVICE-API-KEY ${key}` }
    const response = await fetch(url + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...type, ...authorization, ...headers },
      ...(body === undefined ? {} : { body: text }),
    })
    return toAnswer(response, await response.text())
  }
}

function toAnswer({ status, headers }: Response, text: string): Answer {
  const json = <T>() => JSON.parse(text) as T
  return {
    status,
    headers,
    text,
    json,
    entry: <T>() => json<{ data: [T] }>().data[0],
    failure: () => {
      const { info, data, error } = json<{
        info: unknown
        data: unknown
        error: { code: number; message: string; data: unknown }
      }>()
      assert.deepEqual({ info, data }, { info: { error: true, status }, data: [] })
      assert.deepEqual(Object.keys(error), ['code', 'message', 'data'])
      const faults = Array.isArray(error.data) ? error.data : []
      return { ...error, fields: faults.map(({ field }: { field: string }) => field) }
    },
  }
}

function accountMaker({ node }: TestApp, now: () => Date): Api['account'] {
  const { database: db, edge } = node
  return async (...wanted) => {
    const name = randomBytes(6).toString('hex')
    const [email, password] = [`${name}@pub.example`, 'a long password']
    const { uid } = await createUser(db, { email, password, isAdmin: false })
    const publishers: Publisher[] = []
    for (const [at, settings] of (wanted.length === 0 ? [{}] : wanted).entries()) {
      const slug = `pub-${name}-${at}`
      publishers.push(
        await insertPublisher(db, { ...PUBLISHER_DEFAULTS, uid, name: slug, slug, ...settings }),
      )
    }
    const made = await createApiKey(db, { uid, description: name, expiresAt: null, now: now() })
    const pubId = publishers[0]?.pub_id ?? 0
    // The edge receives new publishers by notification, within 2 s.
    while (!publishers.every(({ pub_id }) => edge.market.publishers.has(pub_id))) await sleep(10)
    return { uid, email, password, key: made.key, tokenId: made.row.token_id, publishers, pubId }
  }
}
