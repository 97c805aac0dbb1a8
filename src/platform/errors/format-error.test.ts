import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { test } from 'node:test'
import { freePort } from '../../../test/support/free-port.ts'
import { formatError } from './format-error.ts'

test('the message for a host with several addresses contains the error of each', async () => {
  const port = await freePort()
  const socket = createConnection({
    host: 'localhost',
    port,
    lookup: (_host, _options, callback) =>
      callback(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ]),
  })
  const error: unknown = await once(socket, 'connect').catch((cause) => cause)
  const each = `^connect \\w+ ::1:${port}.*; connect ECONNREFUSED 127\\.0\\.0\\.1:${port}$`
  assert.match(formatError(error), new RegExp(each))
})

test('any other error gives its own message, and a non-error gives its text', () => {
  assert.equal(formatError(new Error('it broke')), 'it broke')
  assert.equal(formatError(new AggregateError([new Error('one')])), 'one')
  assert.equal(formatError(new TypeError()), 'TypeError')
  assert.equal(formatError('no error'), 'no error')
})
