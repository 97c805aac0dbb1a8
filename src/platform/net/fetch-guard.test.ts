import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startServer } from '../../../test/support/local-server.ts'
import { startNameServer } from '../../../test/support/name-server.ts'
import { guardedAgent, guardedGet, isPublicAddress } from './fetch-guard.ts'

test('addresses of every special range are private, all others are public', () => {
  for (const address of [
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '::1',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::7f00:1', // 127.0.0.1 in the deprecated IPv4-compatible form.
    '4000::1', // Not assigned to anybody.
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    'ff02::1',
    'not an address',
    '',
  ]) {
    assert.equal(isPublicAddress(address), false, address)
  }
  for (const address of ['8.8.8.8', '93.184.216.34', '2606:4700::1111', '::ffff:8.8.8.8']) {
    assert.equal(isPublicAddress(address), true, address)
  }
})

test('a private address is refused before a byte is sent, by number and by name', async (t) => {
  const { port, connections } = await listen(t)
  const agent = guardedAgent({ allowPrivate: false })
  t.after(() => agent.close())
  // Every spelling that the URL parser turns into 127.0.0.1, IPv6, and a name.
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    'localhost',
  ]) {
    const url = new URL(`http://${host}:${port}/`)
    await assert.rejects(guardedGet(agent, url, { headers: {} }), { code: 'PRIVATE_ADDRESS' })
  }
  assert.equal(connections(), 0)
})

test("one private address among a name's several is enough to refuse it", async (t) => {
  const { nameServers } = await startNameServer(t, (name) => (name === 'shop.example' ? MIXED : []))
  const agent = guardedAgent({ allowPrivate: false, nameServers })
  t.after(() => agent.close())
  const get = (host: string) => guardedGet(agent, new URL(`http://${host}/`), { headers: {} })
  await assert.rejects(
    get('shop.example'),
    /^Error: shop\.example \(127\.0\.0\.1\) is not a public/,
  )
  await assert.rejects(get('nowhere.example'), { code: 'ENODATA' })
})

test('names that no server answers are looked up in parallel, however many', async (t) => {
  const names = Array.from({ length: 20 }, (_, n) => `${n}.example`)
  const asked = new Set<string>()
  const { promise: allAsked, resolve } = Promise.withResolvers<void>()
  const { nameServers } = await startNameServer(t, (name) => {
    if (asked.add(name).size === names.length) resolve()
    return null
  })
  const agent = guardedAgent({ allowPrivate: false, nameServers })
  const gets = names.map((name) => guardedGet(agent, new URL(`http://${name}/`), { headers: {} }))
  await Promise.race([allAsked, Promise.all(gets)])
  await agent.destroy()
  await Promise.allSettled(gets)
})

test('with private addresses allowed, redirects are followed up to a limit', async (t) => {
  const { port } = await listen(t)
  const agent = guardedAgent({ allowPrivate: true })
  t.after(() => agent.close())
  const get = (path: string, host = '127.0.0.1') =>
    guardedGet(agent, new URL(`http://${host}:${port}${path}`), { headers: {} })
  for (const host of ['127.0.0.1', 'localhost']) {
    assert.equal(await (await get('/hop', host)).body.text(), 'feed', host)
  }
  await assert.rejects(get('/loop'), /redirects more than 5 times/)
  await assert.rejects(get('/file'), /not http\(s\)/)
  await assert.rejects(get('/missing'), /answered 404/)
})

test('an endless response that is not a document is not read', async (t) => {
  const { port } = await startServer(t, ({ url }, response) => {
    if (url === '/feed') response.end('feed')
    else response.writeHead(url === '/hop' ? 302 : 404, { location: '/feed' }).write('a')
  })
  const agent = guardedAgent({ allowPrivate: true })
  t.after(() => agent.close())
  const get = (path: string) => {
    const signal = AbortSignal.timeout(5_000)
    return guardedGet(agent, new URL(`http://127.0.0.1:${port}${path}`), { headers: {}, signal })
  }
  await assert.rejects(get('/missing'), /answered 404/)
  assert.equal(await (await get('/hop')).body.text(), 'feed')
})

test('credentials in a URL go only to its own server and into no message', async (t) => {
  const [shop, other] = [await listen(t), await listen(t)]
  const agent = guardedAgent({ allowPrivate: true })
  t.after(() => agent.close())
  const get = async (path: string) => {
    const url = new URL(`http://ann:p%40ss%3A@127.0.0.1:${shop.port}${path}`)
    return (await guardedGet(agent, url, { headers: {} })).body.text()
  }
  const basic = `Basic ${Buffer.from('ann:p@ss:').toString('base64')}`
  assert.equal(await get('/who'), basic)
  assert.equal(await get('/to-who'), basic)
  assert.equal(await get(`/away?${other.port}`), '')
  await assert.rejects(get('/missing'), ({ message }) => {
    assert.match(message, /^http:\/\/127\.0\.0\.1:\d+\/missing answered 404$/)
    return true
  })
  const unwritten = new URL(`http://ann:100%@127.0.0.1:${shop.port}/who`)
  await assert.rejects(guardedGet(agent, unwritten, { headers: {} }), /is written %25$/)
})

async function listen(t: TestContext): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const { server, port } = await startServer(t, (request, response) => {
    const [path = '', port] = (request.url ?? '').split('?')
    const to = {
      '/hop': '/feed',
      '/loop': '/loop',
      '/file': 'file:///etc/passwd',
      '/to-who': '/who',
      '/away': `http://127.0.0.1:${port}/who`,
    }[path]
    if (path === '/who') response.end(request.headers.authorization)
    else if (to !== undefined) response.writeHead(302, { location: to }).end()
    else if (path === '/feed') response.end('feed')
    else response.writeHead(404).end()
  })
  server.on('connection', () => connections++)
  return { port, connections: () => connections }
}

const MIXED = ['93.184.216.34', '127.0.0.1']
