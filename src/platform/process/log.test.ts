import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorLogger, makeLogger } from './log.ts'

test('a line is one JSON value with its time, message and fields', () => {
  const [line] = linesOf((log) => log.info({ request_id: 'r-1', status: 200 }, 'answered'))
  assert.equal(line?.msg, 'answered')
  assert.equal(line?.request_id, 'r-1')
  assert.match(String(line?.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('secrets are redacted wherever they appear', () => {
  const lines = linesOf((log) => {
    log.info({ authorization: 'SOUK-API-KEY souk_abc', password: 'hunter2' }, 'top')
    log.info({ request: { headers: { authorization: 'souk_abc', cookie: 'hunter2' } } }, 'request')
    log.info({ config: { databaseUrl: 'postgres://u:hunter2@db/souk', port: 8080 } }, 'config')
    log.error({ err: Object.assign(new Error('failed'), { connectionString: 'hunter2' }) }, 'error')
  })
  const text = JSON.stringify(lines)
  assert.doesNotMatch(text, /hunter2|souk_abc/)
  assert.match(text, /"port":8080/)
  assert.match(text, /"message":"failed"/)
})

test('every name of a secret is redacted, at the top, one level down and among headers', () => {
  const names = [
    ...['authorization', 'cookie', 'set-cookie', 'x-souk-signature'],
    ...['password', 'password_hash', 'key', 'secret', 'secrets', 'postback_secret'],
    ...['sealingKeys', 'databaseUrl', 'natsUrl', 'connectionString'],
  ]
  for (const name of names) {
    const secret = { [name]: 'hunter2' }
    const text = JSON.stringify(
      linesOf((log) => log.info({ ...secret, config: secret, response: { headers: secret } })),
    )
    assert.doesNotMatch(text, /hunter2/, name)
    assert.equal(text.split('[secret]').length - 1, 3, name)
  }
})

test('lines below the level are not written', () => {
  assert.deepEqual(
    linesOf((log) => log.debug('too much')),
    [],
  )
})

test('a repeated error is logged once a minute with its count, even if other errors occur between', () => {
  const lines = linesOf((log) => {
    let nowMs = 0
    const logError = errorLogger(log, 'leases', () => nowMs)
    for (; nowMs <= 60_000; nowMs += 1_000) {
      logError(new Error('away'))
      logError(new Error('late'))
    }
    for (let count = 0; count < 10_000; count++) logError(new Error(`another ${count}`))
    logError(new Error('away'))
  })
  assert.deepEqual(
    [...lines.slice(0, 5), ...lines.slice(-1)].map(({ msg, err, repeats }) => [
      msg,
      (err as Error).message,
      repeats,
    ]),
    [
      ['leases', 'away', undefined],
      ['leases', 'late', undefined],
      ['leases', 'away', 59],
      ['leases', 'late', 59],
      ['leases', 'another 0', undefined],
      ['leases', 'away', undefined], // Beyond the number that is remembered.
    ],
  )
})

function linesOf(write: (log: ReturnType<typeof makeLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = []
  write(makeLogger({ level: 'info', stream: { write: (line) => lines.push(line) } }))
  return lines.map((line) => JSON.parse(line))
}
