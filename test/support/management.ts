/** Operations served without a socket, and people with roles who call them. */
import { randomBytes } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Caller } from '../../src/accounts/caller.ts'
import { createApiKey, createUser } from '../../src/accounts/create-account.ts'
import { setMembership } from '../../src/accounts/membership-store.ts'
import type { Operation } from '../../src/accounts/operation.ts'
import { operationRoutes } from '../../src/accounts/operation-routes.ts'
import { NETWORK, type Organization, type Role } from '../../src/accounts/permission.ts'
import { PUBLISHER_DEFAULTS } from '../../src/accounts/publisher.ts'
import { insertPublisher } from '../../src/accounts/publisher-store.ts'
import { type KeyGuard, makeKeyGuard } from '../../src/accounts/require-key.ts'
import { csrfToken } from '../../src/accounts/session.ts'
import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant } from '../../src/catalog/merchant-store.ts'
import { createHttp, type Http } from '../../src/platform/http/http-server.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'
import { makeLogger } from '../../src/platform/process/log.ts'
import { sessionToken } from './session-token.ts'

export const BASE_URL = 'http://127.0.0.1'
export const PASSWORD = 'a long password'

export interface Person {
  readonly uid: number
  readonly email: string
  readonly key: string
}

interface Asked {
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its answer.
  readonly data: any[]
  readonly nextCursor: string | null
  readonly error: { code: number; message: string; data: unknown } | null
  /** `[409, 4091]` */
  readonly refusal: readonly [number, number | null]
  readonly fields: readonly string[]
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Management {
  readonly http: Http
  readonly clock: { now: Date }
  call(method: Method, url: string, asked?: Asked): Promise<Answer>
}

interface GuardDeps {
  readonly keys: KeyGuard
  readonly now: () => Date
}

/** Serves operations, and the routes of plugins. */
export async function serveOperations(
  db: Db,
  operations: readonly Operation[],
  plugins: (deps: GuardDeps) => readonly FastifyPluginAsyncTypebox[] = () => [],
): Promise<Management> {
  const clock = { now: new Date() }
  const now = () => clock.now
  const keys = makeKeyGuard({
    ...{ db, now, limits: null },
    ...{ brandWords: ['service'], baseUrl: BASE_URL },
  })
  const http = await createHttp({
    log: makeLogger({ level: 'silent' }),
    corsOrigins: [],
    isTrustedProxy: () => false,
    matchHot: () => null,
  })
  await http.register(operationRoutes({ db, keys, now }, operations))
  for (const plugin of plugins({ keys, now })) await http.register(plugin)
  return {
    http,
    clock,
    call: async (method, url, { key, body, headers = {} } = {}) => {
      const authorization = key === undefined ? {} : { authorization: `SERVICE-API-KEY ${key}` }
      const answer = await http.inject({
        ...{ method, url, ...(body === undefined ? {} : { payload: body as object }) },
        headers: { ...authorization, ...headers },
      })
      return toAnswer(answer.statusCode, answer.body)
    },
  }
}

function toAnswer(status: number, text: string): Answer {
  const isJson = text.startsWith('{')
  const { data = [], error = null, next_cursor = null } = isJson ? JSON.parse(text) : {}
  const faults = Array.isArray(error?.data) ? error.data : []
  return {
    ...{ status, text, data, error, nextCursor: next_cursor },
    refusal: [status, error?.code ?? null],
    fields: faults.map(({ field }: { field: string }) => field),
  }
}

/** A user with a key, and with these roles. */
export async function makePerson(
  db: Db,
  ...roles: readonly { organization: Organization; role: Role }[]
): Promise<Person> {
  const email = `${randomBytes(6).toString('hex')}@people.example`
  const { uid } = await createUser(db, { email, password: PASSWORD, isAdmin: false })
  for (const { organization, role } of roles) await setMembership(db, { uid, organization, role })
  return { uid, email, key: await makeKey(db, uid) }
}

export async function makeKey(
  db: Db,
  uid: number,
  rights: Partial<Pick<Caller, 'scopes' | 'boundTo'>> = {},
): Promise<string> {
  const now = new Date()
  return (await createApiKey(db, { uid, description: 'test', expiresAt: null, now, ...rights })).key
}

/** A publisher, with its owner. */
export async function makePublisherOf(db: Db): Promise<{ at: Organization; owner: Person }> {
  const owner = await makePerson(db)
  const slug = randomBytes(6).toString('hex')
  const row = await insertPublisher(db, { ...PUBLISHER_DEFAULTS, uid: owner.uid, name: slug, slug })
  return { at: { kind: 'publisher', id: row.pub_id }, owner }
}

/** A merchant, with its owner. */
export async function makeMerchantOf(db: Db): Promise<{ at: Organization; owner: Person }> {
  const owner = await makePerson(db)
  const name = randomBytes(6).toString('hex')
  const domains = [`${name}.example`]
  const row = await insertMerchant(db, { ...MERCHANT_DEFAULTS, uid: owner.uid, name, domains })
  return { at: { kind: 'merchant', id: row.merch_id }, owner }
}

/** `/api/v1/publishers/7/` */
export function pathTo({ kind, id }: Organization = NETWORK): string {
  return kind === 'network' ? '/api/v1/network/' : `/api/v1/${kind}s/${id}/`
}

/** The headers of a session, which change things too. */
export async function signIn(db: Db, email: string): Promise<Record<string, string>> {
  const token = await sessionToken(db, email)
  return { cookie: `souk_session=${token}`, 'x-souk-csrf': csrfToken(token) }
}
