/** A port that nobody listens on, for a service whose own addresses must name it beforehand. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The port itself, or, for 0, one that the system picks on this address; free again, so to be
 * listened on at once. Rejects with the reason when it cannot be had.
 */
export async function freePort(wanted: { host: string; port: number }): Promise<number> {
  const server = createServer().listen(wanted.port, wanted.host)
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error(`no port on ${wanted.host}`)
  return address.port
}
