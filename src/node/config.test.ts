import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeGeoip } from '../../test/support/geoip.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { ConfigError, onPort, readConfig, readSealingKeys } from './config.ts'

const EVENTS_DEFAULT = { rate: 1_000, burst: 5_000 }

/** The variables named by the error for this environment; empty if it is valid. */
function refused(env: Record<string, string>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems.map((problem) => problem.slice(0, problem.indexOf(':')))
  }
}

test('names every invalid value at once, and no valid one', async (t) => {
  const folder = await temporaryFolder(t, 'souk-config-')
  const file = join(folder, 'list')
  writeFileSync(file, '10.0.0.0/8\nnot an address\n')
  const wrong = {
    PORT: 'abc',
    HOST: '!!',
    SOUK_DATA: file,
    DATABASE_URL: 'mysql://x',
    NATS_URL: 'http://x',
    BASE_URL: 'nope',
    AUCTION_URL: 'ftp://x',
    LINK_URL: 'https://x/?y',
    ROLES: 'api,foo',
    BRAND: 'a b',
    BRAND_ALIASES: 'a,!',
    SOUK_SECRETS: '1:zz',
    RATE_LIMITS: 'zzz=1',
    TRUSTED_PROXIES: 'x',
    GEO_HEADER: 'x country',
    GEOIP_DB: file,
    CORS_ORIGINS: 'foo',
    PRICING: 'third',
    LINKMATE_NEW_PER_HOUR: 'x',
    IP_BLOCKLIST: file,
    RECEIPT_HOURS: '-1',
    RETENTION_DAYS: '0',
    ALLOW_PRIVATE_FETCH: 'maybe',
    SMTP_URL: 'http://mail.example',
    MAIL_FROM: 'nobody',
    OIDC_ISSUER: 'http://login.example',
    OIDC_REQUIRED: 'perhaps',
    LOG_LEVEL: 'loud',
  }
  assert.deepEqual(refused(wrong).sort(), Object.keys(wrong).sort())
  assert.deepEqual(refused({ PORT: 'abc' }), ['PORT'])
  for (const name of ['IP_BLOCKLIST', 'GEOIP_DB']) {
    assert.throws(() => readConfig({ [name]: folder }), new RegExp(`${name}: ".*" is not a file`))
  }
  assert.deepEqual(refused({ HOST: '::1', SOUK_DATA: folder, GEO_HEADER: 'X-Country' }), [])
})

test('refuses an invalid address at once, without a DNS lookup', () => {
  for (const HOST of ['256.1.1.1', '1.2.3', '999', 'a..b', '-a', 'a.1']) {
    assert.deepEqual(refused({ HOST, PRICING: 'x' }), ['HOST', 'PRICING'], HOST)
  }
  const right = ['localhost', 'node-1.internal', '3f2a', '0.0.0.0', '::', 'fe80::1', 'x', '1.2.3.x']
  for (const HOST of right) assert.deepEqual(refused({ HOST }), [], HOST)
})

test('reports one invalid value once', () => {
  assert.throws(
    () => readConfig({ PORT: 'abc' }),
    /^ConfigError: The .* has a wrong value:\n {2}PORT: /,
  )
})

test('names every invalid item of a list, and no valid one', () => {
  const problems = (env: Record<string, string>) => {
    try {
      readConfig(env)
      return []
    } catch (error) {
      return error instanceof ConfigError ? error.problems : assert.fail(String(error))
    }
  }
  const lists = {
    ROLES: ['api,foo,bar', 'foo', 'bar'],
    TRUSTED_PROXIES: ['10.0.0.0/8,1.2.3,zz', '1.2.3', 'zz'],
    CORS_ORIGINS: ['https://a.example,b,c', 'b', 'c'],
    BRAND_ALIASES: ['a,!,?', '!', '?'],
    RATE_LIMITS: ['x=1,key=0,y=2,-key=0', 'x=1', 'y=2', '-key=0'],
  }
  for (const [name, [value = '', ...wrong]] of Object.entries(lists)) {
    const [problem = '', ...others] = problems({ [name]: value })
    assert.deepEqual(others, [])
    for (const item of wrong) assert.ok(problem.includes(`"${item}"`), problem)
  }
  const [secrets = ''] = problems({ SOUK_SECRETS: '1:zz,2:yy' })
  assert.match(secrets, /key 1 .*; key 2 /)
})

test('a public URL has no query, not even an empty one, and no password', () => {
  const queries = ['https://x/?', 'https://x/#', 'https://x?']
  for (const wrong of [...queries, 'https://me@x/', 'https://:secret@x/', 'httpsx://x']) {
    assert.deepEqual(refused({ BASE_URL: wrong, LINK_URL: wrong }), ['BASE_URL', 'LINK_URL'], wrong)
  }
  assert.equal(
    readConfig({ BASE_URL: 'https://x.example/souk/' }).baseUrl,
    'https://x.example/souk',
  )
})

test('rate limits that are not named keep their default, and none may be named twice', () => {
  const { auction, events } = readConfig({ RATE_LIMITS: 'auction=5:6' }).rateLimits
  assert.deepEqual({ auction, events }, { auction: { rate: 5, burst: 6 }, events: EVENTS_DEFAULT })
  for (const wrong of ['auction=5:6,key=0,auction=0', 'auction=0:6', 'auction=5:0']) {
    assert.deepEqual(refused({ RATE_LIMITS: wrong }), ['RATE_LIMITS'], wrong)
  }
})

test('NATS_URL is one URL, or several of a cluster, separated by commas', () => {
  for (const NATS_URL of ['nats://a:4222', 'nats://a:4222,nats://b:4222']) {
    assert.equal(readConfig({ NATS_URL }).natsUrl, NATS_URL)
  }
  for (const NATS_URL of ['nats://a,b:4222', 'nats://a nats://b', 'a:4222']) {
    assert.deepEqual(refused({ NATS_URL }), ['NATS_URL'], NATS_URL)
  }
})

test('refuses a NATS password that cannot be intended', () => {
  assert.deepEqual(refused({ NATS_URL: 'nats://souk:50%@a' }), ['NATS_URL'])
  assert.deepEqual(refused({ NATS_URL: 'nats://souk:50%25@a' }), [])
})

test('a database URL names one host, and a password may contain commas', () => {
  const problem = (DATABASE_URL: string) => {
    try {
      readConfig({ DATABASE_URL })
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.match(problem('postgres://u:p@a:5432,b:5432/souk'), /DATABASE_URL: must name one server/)
  assert.match(problem('postgres://a,b'), /DATABASE_URL: must name one server/)
  assert.equal(problem('postgres://u:p,q@a:5432/souk?application_name=x,y'), '')
})

test('checks a database URL’s TLS settings at once, and never weakens them', () => {
  const url = 'postgres://u:p@a/souk'
  const urlOf = (DATABASE_URL: string) => readConfig({ DATABASE_URL }).databaseUrl
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    assert.equal(urlOf(`${url}?sslmode=${mode}&x=1`), `${url}?sslmode=verify-full&x=1`)
  }
  for (const mode of ['disable', 'no-verify']) {
    assert.equal(urlOf(`${url}?x=1&sslmode=${mode}`), `${url}?x=1&sslmode=${mode}`)
  }
  assert.throws(
    () => urlOf(`${url}?sslmode=allow`),
    /DATABASE_URL: sslmode must be one of .*"allow"/,
  )
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    assert.throws(() => urlOf(`${url}?${name}=/nowhere/ca.pem`), /DATABASE_URL: .* cannot be read/)
  }
})

test('a database URL may name a socket folder, with or without a role before it', () => {
  for (const url of ['postgres://u:p@/souk?host=/run/db', 'postgres:///souk?host=/run/db&user=u']) {
    assert.equal(readConfig({ DATABASE_URL: url }).databaseUrl, url)
  }
})

test('the header with the country may have any name that proxies use', () => {
  assert.equal(readConfig({ GEO_HEADER: 'GEOIP_Country-Code' }).geoHeader, 'geoip_country-code')
})

test('a sealing key is base64 in either alphabet', () => {
  const key = Buffer.alloc(32, 0xfb)
  for (const encoding of ['base64', 'base64url'] as const) {
    const [read] = readSealingKeys(`1:${key.toString(encoding)}`)
    assert.deepEqual(read, { id: 1, key })
  }
  const other = `!!!!${'A'.repeat(43)}%%%%`
  assert.throws(() => readSealingKeys(`1:${other}`), { message: 'key 1 is not base64' })
})

test('the id of a sealing key is a number of one byte, or any word', () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  const ids = (value: string) => readSealingKeys(value).map(({ id }) => id)
  assert.deepEqual(ids(`255:${key},0:${key}`), [255, 0])
  const [spring = -1, autumn = -1, ...none] = ids(`2026-spring:${key},2026-autumn:${key}`)
  assert.deepEqual(ids(`2026-autumn:${key}`), [autumn], 'the same in every process')
  assert.deepEqual(
    [spring, autumn].filter((id) => id < 0 || id > 255 || spring === autumn),
    none,
  )
  assert.throws(() => ids(`7:${key},7:${key}`), { message: /ids must differ/ })
  const secret = Buffer.alloc(32, 1).toString('base64url')
  for (const wrong of [`a b:${key}`, secret, `${secret}:1`]) {
    assert.throws(() => ids(wrong), { message: /^each key is `id:base64`, [^A]*$/ })
  }
})

test('reads the blocklist’s addresses and blocks, and ignores comments', async (t) => {
  const folder = await temporaryFolder(t, 'souk-config-')
  const file = join(folder, 'list')
  writeFileSync(file, '# robots\n10.0.0.0/8 # all of them\n\n2001:db8::1\n')
  const blocks = readConfig({ IP_BLOCKLIST: file }).ipBlocklist
  assert.deepEqual(
    blocks.map(([address, bits]) => `${address}/${bits}`),
    ['10.0.0.0/8', '2001:db8::1/128'],
  )
})

test('names invalid lines of a blocklist by number, at most ten', async (t) => {
  const folder = await temporaryFolder(t, 'souk-config-')
  const file = join(folder, 'list')
  writeFileSync(file, ['10.0.0.0/8', ...Array(12).fill('x')].join('\n'))
  assert.throws(
    () => readConfig({ IP_BLOCKLIST: file }),
    (error: Error) => {
      const lines = Array.from(error.message.matchAll(/line (\d+): /g), ([, line]) => Number(line))
      assert.deepEqual(lines, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
      return true
    },
  )
})

test('recognizes a country database by the metadata near its end, whatever its size', async (t) => {
  const folder = await temporaryFolder(t, 'souk-config-')
  const file = join(folder, 'country.mmdb')
  const database = makeGeoip({ '203.0.113.0/24': 'US' })
  for (const before of [0, 1 << 20]) {
    writeFileSync(file, Buffer.concat([Buffer.alloc(before), database]))
    assert.equal(readConfig({ GEOIP_DB: file }).geoipDb, file)
  }
  writeFileSync(file, Buffer.concat([database, Buffer.alloc(1 << 20)]))
  assert.throws(() => readConfig({ GEOIP_DB: file }), /is not a MaxMind database/)
})

test('with PORT=0, default URLs name the port of the system, and explicit URLs stay', () => {
  const { baseUrl, auctionUrl, linkUrl, port } = onPort(
    readConfig({ PORT: '0', LINK_URL: 'https://go.example' }),
    4711,
  )
  assert.deepEqual(
    { baseUrl, auctionUrl, linkUrl, port },
    {
      baseUrl: 'http://localhost:4711',
      auctionUrl: 'http://localhost:4711',
      linkUrl: 'https://go.example',
      port: 4711,
    },
  )
})

test('shows a brand word in lower case, and accepts it in any case', () => {
  const { brand, brandWords } = readConfig({ BRAND: 'Acme', BRAND_ALIASES: 'Foo,bar,acme' })
  assert.equal(brand, 'acme')
  assert.deepEqual(brandWords, ['acme', 'Acme', 'foo', 'Foo', 'bar'])
})

test('reads a switch in any case, and an origin with or without its final slash', () => {
  const isOn = (ALLOW_PRIVATE_FETCH: string) =>
    readConfig({ ALLOW_PRIVATE_FETCH }).allowPrivateFetch
  assert.deepEqual(['ON', 'Yes', 'OFF', 'False'].map(isOn), [true, true, false, false])
  const { corsOrigins } = readConfig({ CORS_ORIGINS: 'https://a.example/,https://b.example' })
  assert.deepEqual(corsOrigins, ['https://a.example', 'https://b.example'])
})

test('normalizes an origin to the form that browsers send', () => {
  const { corsOrigins } = readConfig({
    CORS_ORIGINS: 'https://My.Example:443,https://käse.example',
  })
  assert.deepEqual(corsOrigins, ['https://my.example', 'https://xn--kse-qla.example'])
  for (const none of ['a.example', '*', 'null', 'ftp://a.example', 'https://a.example/path']) {
    assert.deepEqual(refused({ CORS_ORIGINS: none }), ['CORS_ORIGINS'], none)
  }
})

test('a sealing key has an id and a key, and a word as id becomes one byte', () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  assert.deepEqual(refused({ SOUK_SECRETS: `1:${key}:more` }), ['SOUK_SECRETS'])
  const idOf = (id: string) => readConfig({ SOUK_SECRETS: `${id}:${key}` }).sealingKeys?.[0]?.id
  assert.deepEqual(['0', '255'].map(idOf), [0, 255])
  for (const word of ['256', '-5', '0001', 'autumn', 'a1']) {
    const id = idOf(word) ?? -1
    assert.ok(id >= 0 && id <= 255, `${word}: ${id}`)
    assert.equal(idOf(word), id)
  }
})

test('mail has a sender, and an identity provider a client', () => {
  const mail = (env: Record<string, string>) => readConfig(env).mail
  const SMTP_URL = 'smtp://souk:p%40ss@mail.example:2525'
  assert.equal(mail({}), null)
  assert.deepEqual(mail({ SMTP_URL, BASE_URL: 'https://souk.example' }), {
    ...{ url: SMTP_URL, from: 'Souk <souk@souk.example>' },
  })
  assert.equal(mail({ SMTP_URL, MAIL_FROM: 'Shop <a@b.example>' })?.from, 'Shop <a@b.example>')
  assert.deepEqual(refused({ SMTP_URL: `${SMTP_URL}/?pool=true` }), ['SMTP_URL'])

  const OIDC_ISSUER = 'https://login.example/realm'
  const client = { OIDC_CLIENT_ID: 'souk', OIDC_CLIENT_SECRET: 'secret' }
  assert.deepEqual(readConfig({ OIDC_ISSUER, ...client }).oidc, {
    ...{ issuer: OIDC_ISSUER, clientId: 'souk', clientSecret: 'secret', isRequired: false },
  })
  assert.deepEqual(refused({ OIDC_ISSUER }), ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'])
  assert.deepEqual(refused({ OIDC_REQUIRED: 'on' }), ['OIDC_REQUIRED'])
  assert.deepEqual(refused({ OIDC_ISSUER: 'http://127.0.0.1:1', ...client }), [])
  assert.deepEqual(refused({ OIDC_ISSUER: 'http://login.example', ...client }), ['OIDC_ISSUER'])
})
