import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { allowLongBody, limitBodyTimeout } from './body-timeout.ts'

const requestWith = (headers: Record<string, string>): IncomingMessage =>
  Object.assign(new EventEmitter(), { headers, complete: false }) as unknown as IncomingMessage

test('cuts off a body that takes too long, unless its route allows a long one', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const late: string[] = []
  const limit = (name: string, headers: Record<string, string>) => {
    const request = requestWith(headers)
    limitBodyTimeout(request, 30_000, () => late.push(name))
    return request
  }
  limit('slow', { 'content-length': '10' })
  limit('chunked', { 'transfer-encoding': 'chunked' })
  limit('none', {})
  limit('empty', { 'content-length': '0' })
  Object.assign(limit('whole', { 'content-length': '10' }), { complete: true })
  allowLongBody(limit('file', { 'content-length': '10' }))
  limit('gone', { 'content-length': '10' }).emit('close')
  t.mock.timers.tick(30_000)
  assert.deepEqual(late, ['slow', 'chunked'])
})
