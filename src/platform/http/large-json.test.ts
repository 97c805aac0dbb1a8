import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { parseBody, SMALL_BODY_BYTES_MAX } from './json-body.ts'
import { TEXT_WITH_NUL } from './validation.ts'

const Body = Type.Object({
  name: Type.String(),
  entries: Type.Array(Type.Object({ id: Type.String() }), { maxItems: 2 }),
})
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, at]))

test('parses a large body on another thread, and returns only its known fields', async () => {
  const sent = {
    ...keys(80_000),
    name: keys(10),
    entries: Array.from({ length: 9 }, () => ({ id: '1', ...keys(3) })),
  }
  const body = Buffer.from(JSON.stringify(sent))
  assert.ok(body.length > SMALL_BODY_BYTES_MAX)
  const reading = parseBody(body, Body)
  assert.ok(reading instanceof Promise)
  // One entry beyond the list's limit stays, so that validation still sees the list as too long.
  assert.deepEqual(await reading, { name: {}, entries: [{ id: '1' }, { id: '1' }, { id: '1' }] })
})

test('a large body is refused by the same rules as a small one', async () => {
  const padding = ' '.repeat(SMALL_BODY_BYTES_MAX)
  const read = async (text: string | Buffer) =>
    parseBody(Buffer.concat([Buffer.from(padding), Buffer.from(text)]), Body)
  const rule = (text: string) => ({ status: 400, data: [{ field: 'body', rule: text }] })
  await assert.rejects(read('{"name":'), rule('is not valid JSON'))
  await assert.rejects(read(Buffer.from([0xff])), rule('is not valid UTF-8'))
  assert.deepEqual(await read('{"__proto__":{"name":"x"},"name":"a\\u0000"}'), {
    name: TEXT_WITH_NUL,
  })
})

test('calls beyond 32 MiB of queued bodies are refused, and later ones are accepted', async () => {
  const body = Buffer.from(`{"name":"${'x'.repeat(1_048_000)}"}`)
  const results = await Promise.allSettled(Array.from({ length: 40 }, () => parseBody(body, Body)))
  const refused = results.filter(({ status }) => status === 'rejected')
  assert.ok(refused.length > 0 && refused.length < 10, `${refused.length} refused`)
  assert.ok(refused.every((one) => (one as PromiseRejectedResult).reason.status === 503))
  assert.deepEqual(Object.keys((await parseBody(body, Body)) as object), ['name'])
})
