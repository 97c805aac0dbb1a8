/**
 * The account side of the service on a socket, for tests: a database of its own, the real routes,
 * and short ways to make users, publishers and keys.
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createApiKey, createUser } from '../src/accounts/create-account.ts'
import { dashboardRoutes } from '../src/accounts/dashboard-routes.ts'
import { PUBLISHER_DEFAULTS, type PublisherSettings } from '../src/accounts/publisher.ts'
import { insertPublisher, type Publisher } from '../src/accounts/publisher-store.ts'
import { makeKeyGuard } from '../src/accounts/require-key.ts'
import { accountRoutes } from '../src/accounts/routes.ts'
import { linkRoutes } from '../src/links/routes.ts'
import { createHttp } from '../src/platform/http.ts'
import { makeIdSource } from '../src/platform/ids.ts'
import { makeLogger } from '../src/platform/log.ts'
import type { Database } from '../src/platform/postgres.ts'
import { TokenBuckets } from '../src/platform/token-bucket.ts'
import { type Scope, testDatabase } from './database.ts'

export const LINK_URL = 'https://go.souk.example'
export const AUCTION_URL = 'https://auction.souk.example'
export const BASE_URL = 'https://souk.example'

export interface ApiOptions {
  readonly newPerHour?: number
  readonly linkmateLimit?: { rate: number; burst: number }
  readonly keyLimit?: { rate: number; burst: number }
  readonly now?: () => Date
}

export interface Api {
  readonly db: Database
  readonly url: string
  readonly leftOut: { links: number }
  /** Sends a request; JSON bodies are written, other text is sent as it is. */
  call(path: string, options?: CallOptions): Promise<Answer>
  /** A user with a key, and publishers with these settings, the defaults where nothing is said. */
  account(...publishers: Partial<PublisherSettings>[]): Promise<Account>
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
  /** The body as JSON; throws when it is none. */
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
  readonly pubId: number // of the first publisher
}

export async function startApi(scope: Scope, options: ApiOptions = {}): Promise<Api> {
  const db = await testDatabase(scope)
  const now = options.now ?? (() => new Date())
  const limits = (limit?: { rate: number; burst: number }) =>
    limit === undefined ? null : new TokenBuckets(limit)
  const brandWords = ['service', 'souk', 'howl']
  const keys = makeKeyGuard({ db, brandWords, limits: limits(options.keyLimit), now })
  const http = await createHttp({
    log: makeLogger({ level: 'silent' }),
    corsOrigins: ['https://tools.example'],
    trustedProxies: [],
    matchHot: () => null,
  })
  const leftOut = { links: 0 }
  await http.register(accountRoutes({ keys }))
  await http.register(dashboardRoutes({ db, baseUrl: BASE_URL, now }))
  await http.register(
    linkRoutes({
      db,
      keys,
      now,
      nextId: makeIds(),
      bases: { linkUrl: LINK_URL, auctionUrl: AUCTION_URL },
      limits: limits(options.linkmateLimit),
      newPerHour: options.newPerHour ?? 5000,
      onLeftOut: (links) => {
        leftOut.links += links
      },
      onLinks: () => undefined,
    }),
  )
  await http.listen({ host: '127.0.0.1', port: 0 })
  scope.after(() => http.close())
  const url = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`
  return { db, url, leftOut, call: caller(url), account: accountMaker(db, now) }
}

function makeIds(): () => string {
  const source = makeIdSource({ nodeId: 1, now: Date.now })
  return () => source.next()
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

function accountMaker(db: Database, now: () => Date): Api['account'] {
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
    return { uid, email, password, key: made.key, tokenId: made.row.token_id, publishers, pubId }
  }
}
