/** A port that nobody listens on, for a service whose own addresses must name it beforehand. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * The port itself, or, for 0, one that the system picks on this address; free again, so to be
 * listened on at once. Rejects with the reason when it cannot be had.
 */
export async function freePort(wanted: { host: string; port: number }): Promise<number> {
  // Not `end`: a client that comes before its time may reset, or never close its own side.
  const server = createServer((caller) => caller.destroy()).listen(wanted.port, wanted.host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error(`no port on ${wanted.host}`)
  const { port } = address
  if (wanted.port === 0 && process.platform !== 'win32') await keep(port, wanted.host)
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * Makes a connection that the port's own side ends. For a minute the system picks such a port for
 * nobody else, and lets whoever names it listen on it.
 */
async function keep(port: number, host: string): Promise<void> {
  const caller = connect(port, host).resume()
  await once(caller, 'close').catch(() => undefined) // Then it is as free as it was.
}
