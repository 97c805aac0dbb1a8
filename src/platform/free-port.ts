/** A port that nobody listens on, for a service whose own addresses must name it beforehand. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The port the system picks on this address; free again, so to be listened on at once. */
export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening') // rejects with the reason when the address is not ours
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error(`no port on ${host}`)
  return address.port
}
