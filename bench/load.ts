/**
 * A closed-loop load generator: each connection sends its next request when the last was answered.
 * All connections draw from one list, so that every request is sent once before any is sent again.
 *
 * Raw sockets, because the generator shares two cores with what it measures: a client library
 * costs more per request than a bare server does.
 */
import { connect, type Socket } from 'node:net'

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
}

export interface LoadResult {
  readonly answers: number
  readonly rate: number // answers a second
  readonly p50: number // milliseconds
  readonly p99: number
  readonly p999: number
}

export interface LoadOptions {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly status: number // any other answer fails the run
  readonly requests: readonly LoadRequest[]
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { port, connections, seconds, status } = options
  const messages = options.requests.map(toMessage)
  const wanted = `HTTP/1.1 ${status} `
  const latencies: number[] = []
  let next = 0
  const started = performance.now()
  const until = started + seconds * 1000
  const one = async (): Promise<void> => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const answers = readAnswers(socket)
    while (performance.now() < until) {
      const message = messages[next++ % messages.length] as Buffer
      const sentAt = performance.now()
      socket.write(message)
      const head = await answers()
      if (!head.startsWith(wanted)) throw new Error(`answered "${head.slice(0, 300)}"`)
      latencies.push(performance.now() - sentAt)
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, one))
  const elapsed = (performance.now() - started) / 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number) =>
    Math.round((latencies[Math.floor(latencies.length * share)] ?? 0) * 100) / 100
  const answers = latencies.length
  return { answers, rate: answers / elapsed, p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}

function toMessage({ method, path, headers, body }: LoadRequest): Buffer {
  const all = {
    host: 'bench',
    ...headers,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
}

/** Resolves with the head of each answer once its body has arrived. */
function readAnswers(socket: Socket): () => Promise<string> {
  let text = ''
  let waiting: PromiseWithResolvers<string> | null = null
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
    if (text.length < end + 4 + length) return
    const head = text.slice(0, end)
    text = text.slice(end + 4 + length)
    waiting?.resolve(head)
  })
  socket.on('error', (error) => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('the server closed the connection')))
  return () => {
    waiting = Promise.withResolvers<string>()
    return waiting.promise
  }
}
