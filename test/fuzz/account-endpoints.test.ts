/**
 * Bad input for every schema of the account endpoints, against the running service: never a 5xx,
 * never half applied, and the error names the field. fast-check prints the seed and the smallest
 * failing input.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { NewKey } from '../../src/accounts/key-operations.ts'
import {
  RequestResetBody,
  SetPasswordBody,
  SignInBody,
} from '../../src/accounts/sign-in/session-routes.ts'
import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant } from '../../src/catalog/merchant-store.ts'
import { CreateSmartLinkBody, LinkMateBody } from '../../src/links/schema.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { type Answer, startApi } from '../support/api.ts'
import fc from '../support/fast-check.ts'
import {
  answersAnything,
  checkRefusal,
  type Endpoint,
  RUNS,
  refusesLongTexts,
  refusesWrongTypes,
} from './hostile.ts'

interface BodyEndpoint extends Endpoint {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface QueryEndpoint {
  readonly path: string
  readonly good: Readonly<Record<string, string>>
  readonly key?: string
}

const api = await startApi({ after })
const ann = await api.account({ is_partner: true })
const { password } = ann
const { key } = ann
const article_url = 'https://daily.example/fuzz'
const bodies: readonly BodyEndpoint[] = [
  {
    path: '/api/v1/smart_links/',
    schema: CreateSmartLinkBody,
    key,
    good: {
      url: 'https://shop.example/p',
      article_name: 'Fuzz',
      article_url,
      article_publication_date: '2026-03-01',
      exclusive_match_requested: true,
      pub_id: ann.pubId,
    },
  },
  {
    path: `/api/v1/publishers/${ann.pubId}/linkmate/smart_links/`,
    schema: LinkMateBody,
    good: {
      article: { name: 'Fuzz', url: article_url },
      links: [{ raw_url: 'https://shop.example/p', exclusive_match_requested: false }],
      unwrap_links: true,
    },
  },
  {
    path: `/api/v1/publishers/${ann.pubId}/keys/`,
    schema: NewKey,
    key,
    good: {
      description: 'fuzz',
      datetime_expires: '2999-01-01',
      scopes: ['figures.read'],
      is_for_account: false,
    },
  },
  {
    path: '/api/v1/session/',
    schema: SignInBody,
    good: {
      ...{ email: 'x@y.example', password, challenge: 'none', totp: '123456', recovery_code: 'x' },
      passkey: {
        ...{ id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {} },
        response: {
          ...{ clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
          userHandle: 'AAAA',
        },
      },
    },
  },
  {
    path: '/api/v1/session/password_reset/',
    schema: RequestResetBody,
    good: { email: 'x@y.example' },
  },
  {
    path: '/api/v1/session/password/',
    schema: SetPasswordBody,
    good: { token: 'unknown', password: 'a long password' },
  },
]
const shop = await insertMerchant(api.db, {
  ...MERCHANT_DEFAULTS,
  name: 'Fuzz',
  domains: ['fuzz.example'],
  uid: ann.publishers[0]?.uid ?? null,
})
const page = { date_from: '2026-03-01', date_to: '2026-03-02', limit: '5', format: 'csv' }
const queries: readonly QueryEndpoint[] = [
  { path: `/api/v1/merchants/${shop.merch_id}/ledger/`, key, good: page },
  { path: `/api/v1/publishers/${ann.pubId}/reports/orders/`, key, good: page },
  {
    path: `/api/v1/publishers/${ann.pubId}/stats_by_article_merchant_daily/`,
    key,
    good: {
      date_from: '2026-03-01',
      date_to: '2026-03-02',
      limit: '5',
      order_by: 'clicks',
      out_of_network: 'true',
    },
  },
  {
    path: '/api/v1/product_match/clickmate/exclusive_links/',
    good: {
      publisher_slug: ann.publishers[0]?.slug ?? '',
      gtin: '9521000000018',
      sku: 'A-1',
      product_url: 'https://shop.example/p',
      article_url,
      article_name: 'Fuzz',
    },
  },
]

const send = ({ path, key, headers }: BodyEndpoint, body: unknown): Promise<Answer> =>
  api.call(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(key === undefined ? {} : { key }),
    ...(headers === undefined ? {} : { headers }),
  })

/** State that a refused call must leave untouched. */
async function state(): Promise<unknown> {
  return api.db.row(sql`
    select (select count(*) from article) as articles, (select count(*) from smart_link) as links,
      (select count(*) from api_key) as keys, (select count(*) from dashboard_session) as sessions,
      (select count(*) from idempotent_response) as responses
  `)
}

const target = { endpoints: bodies, send, state }

test('a value of a wrong type at any place of any body is 400, named, and changes nothing', async () => {
  // An integer is a number, and some numbers are integers.
  await refusesWrongTypes(target, (type, by) => type === 'integer' && Number.isInteger(by))
})

test('any JSON at any place is answered without a 5xx, and refused calls change nothing', async () => {
  await answersAnything(target)
})

test('a string of a million characters at any place is refused and named', async () => {
  await refusesLongTexts(target)
})

test('invalid JSON or UTF-8 is 400 and changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.string().map((text) => Buffer.from(text)),
      ),
      async (at, bytes) => {
        const endpoint = bodies[at % bodies.length]
        assert.ok(endpoint !== undefined)
        const before = await state()
        const response = await fetch(api.url + endpoint.path, {
          method: 'POST',
          body: bytes,
          headers: {
            'content-type': 'application/json',
            authorization: `SERVICE-API-KEY ${endpoint.key ?? ann.key}`,
            ...endpoint.headers,
          },
        })
        const text = await response.text()
        assert.ok(response.status >= 400 && response.status < 500, `${response.status} ${text}`)
        assert.equal(JSON.parse(text).info.error, true)
        assert.deepEqual(await state(), before)
      },
    ),
    { numRuns: RUNS },
  )
})

test('any text as any query parameter, once or twice, is answered without a 5xx', async () => {
  const cases = queries.flatMap((endpoint) =>
    Object.keys(endpoint.good).map((name) => ({ endpoint, name })),
  )
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.constantFrom('0', '-1', '1e3', '9'.repeat(30), 'NaN', '%', "' or 1=1 --", 'x'.repeat(5000)),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...cases),
      text,
      fc.boolean(),
      async ({ endpoint, name }, value, isTwice) => {
        const query = new URLSearchParams(endpoint.good)
        query.set(name, value.toWellFormed())
        if (isTwice) query.append(name, 'again')
        const { path, key } = endpoint
        const answer = await api.call(`${path}?${query}`, key === undefined ? {} : { key })
        assert.ok(answer.status < 500, answer.text)
        if (answer.status < 400) return
        const fields = checkRefusal(answer)
        const isNul = value.includes('\0')
        // Without a usable gtin or sku, another parameter may be at fault.
        if (answer.status === 400 && isTwice && !isNul)
          assert.ok(fields.includes(name), answer.text)
      },
    ),
    { numRuns: RUNS },
  )
})

test('raw bytes in a URL are answered in the envelope', async () => {
  const characters = [...'%?&=/+#;:@!~az09\\"<>{}|^`[]'].concat('%00', '%ff', '%F0%9F', '__proto__')
  const raw = fc.array(fc.constantFrom(...characters), { maxLength: 60 }).map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(fc.nat(), raw, async (at, text) => {
      const endpoint = queries[at % queries.length]
      assert.ok(endpoint !== undefined)
      const { path, key } = endpoint
      const answer = await api.call(`${path}?${text}`, key === undefined ? {} : { key })
      checkRefusal(answer)
    }),
    { numRuns: RUNS },
  )
})

test('ids of any size and form in a path are 400, 403 or 404', async () => {
  const ids = fc.oneof(
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .map((text) => encodeURIComponent(text.toWellFormed())),
    fc.constantFrom('0', '1.0', '1e3', '0x10', ' 1', '+1', 'null', '__proto__', '%00'),
  )
  await fc.assert(
    fc.asyncProperty(ids, async (id) => {
      const own = String(ann.pubId)
      if (decodeURIComponent(id) === own || id === '.' || id === '..') return
      const days = 'date_from=2026-03-01&date_to=2026-03-02'
      const stats = await api.call(
        `/api/v1/publishers/${id}/stats_by_article_merchant_daily/?${days}`,
        { key: ann.key },
      )
      const body = { article: { name: 'A', url: 'https://a.example/' }, links: [] }
      const linkmate = await api.call(`/api/v1/publishers/${id}/linkmate/smart_links/`, { body })
      for (const answer of [stats, linkmate]) {
        assert.ok([400, 403, 404].includes(answer.status), `${id} ${answer.status} ${answer.text}`)
        checkRefusal(answer)
      }
    }),
    { numRuns: RUNS },
  )
})
