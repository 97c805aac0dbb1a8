import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLogger } from '../process/log.ts'
import { createHttp } from './http-server.ts'

test('outside of the API no other origin may read an answer, in the API those configured', async (t) => {
  const origin = 'https://tools.example'
  const http = await createHttp({
    log: makeLogger({ level: 'silent' }),
    corsOrigins: [origin],
    isTrustedProxy: () => false,
    matchHot: () => null,
  })
  t.after(() => http.close())
  for (const path of ['/dashboard/api/x/', '/x/', '/api/v1/x/']) http.get(path, async () => 'x')
  for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
    const allowed = async (url: string) =>
      (await http.inject({ method, url, headers: { origin } })).headers[
        'access-control-allow-origin'
      ]
    assert.equal(await allowed('/dashboard/api/x/'), undefined, method)
    assert.equal(await allowed('/x/'), undefined, method)
    assert.equal(await allowed('/api/v1/x/'), origin, method)
  }
})
