/** Sends hostile bodies on many connections, away from the thread that measures the readers. */
import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { addressOf } from './abuse-service.ts'

export interface HostileOrder {
  readonly port: number
  readonly path: string
  readonly bytes: number
  readonly connections: number
  readonly addresses: number // that the calls come from
  readonly seconds: number
}

const order = workerData as HostileOrder
const body = manyKeys(order.bytes)
const agent = new Agent({ keepAlive: true, maxSockets: order.connections })
const untilMs = performance.now() + order.seconds * 1_000
const counts: Record<string, number> = {}
let sent = 0

await Promise.all(
  Array.from({ length: order.connections }, async () => {
    while (performance.now() < untilMs) {
      const status = await post()
      counts[status] = (counts[status] ?? 0) + 1
    }
  }),
)
agent.destroy()
parentPort?.postMessage(counts)

/** An object of so many bytes: of 1 MiB some 80,000 keys. */
function manyKeys(bytes: number): Buffer {
  const parts: string[] = []
  let length = 40
  for (let at = 0; length < bytes; at += 1) {
    const part = `"k${String(at).padStart(7, '0')}":1`
    length += part.length + 1
    if (length < bytes) parts.push(part)
  }
  return Buffer.from(`{"organization_id":1,${parts.join()}}`)
}

function post(): Promise<string> {
  sent += 1
  const headers = {
    'content-type': 'text/plain',
    'content-length': String(body.length),
    'x-forwarded-for': addressOf(1 + (sent % order.addresses)),
  }
  return new Promise((resolve) => {
    const { port, path } = order
    const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent }
    const call = request(options, (response) => {
      response.resume()
      response.on('close', () => resolve(String(response.statusCode)))
    })
    call.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? 'error'))
    call.end(body)
  })
}
