/** Finds a free port for a service whose own URLs must contain it before it starts. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * The wanted port or, for 0, one that the system picks on this address. The port is free again, so
 * listen at once. Rejects with the reason if it is not available.
 */
export async function freePort(wanted: { host: string; port: number }): Promise<number> {
  // Destroys early clients instead of ending them: a client may reset, or never close its own side.
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
 * Opens a connection that the port's side closes first. For a minute the system then assigns this
 * port to nobody, but lets a process that names it listen on it.
 */
async function keep(port: number, host: string): Promise<void> {
  const caller = connect(port, host).resume()
  await once(caller, 'close').catch(() => undefined) // If this fails, the port is as free as before.
}
