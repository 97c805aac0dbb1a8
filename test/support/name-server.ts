/** A DNS server on this machine that ends with its test. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

/** Serves IPv4 addresses for names, possibly none; null means that it does not answer. */
export async function startNameServer(
  t: TestContext,
  addressesOf: (name: string) => string[] | null,
) {
  const server = createSocket('udp4', (query, { port, address }) => {
    const question = query.subarray(HEADER_BYTES, query.indexOf(0, HEADER_BYTES) + 5)
    const [, name = '', type] = /^(.*)\0\0(.)/s.exec(question.toString('latin1')) ?? []
    const found = addressesOf(name.slice(1).replace(/[\0-\x20]/g, '.'))
    if (found === null) return
    const ips = type === '\x01' ? found : []
    const header = [...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, ips.length, 0, 0, 0, 0]
    const records = ips.map((ip) => [...RECORD, ...ip.split('.').map(Number)])
    server.send(Buffer.from([...header, ...question, ...records.flat()]), port, address)
  })
  await once(server.bind(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return { nameServers: [`127.0.0.1:${server.address().port}`] }
}

// RFC 1035, 4.1: the header of an answer, and a record with the question's name and an address.
const HEADER_BYTES = 12
const RECORD = [0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]
