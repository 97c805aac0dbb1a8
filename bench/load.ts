/**
 * Load generators.
 *
 * Raw sockets, because the generator shares two cores with what it measures: a client library
 * costs more per request than a bare server does.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** Closed loop: each connection sends its next request when the last was answered. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { connections, seconds } = options
  const nextMessage = messagesOf(options)
  const latencies: number[] = []
  const started = performance.now()
  const until = started + seconds * 1000
  const one = async (): Promise<void> => {
    const connection = open(options)
    while (performance.now() < until) {
      const sentAt = performance.now()
      await connection.ask(nextMessage())
      latencies.push(performance.now() - sentAt)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, one))
  return summary(latencies, started)
}

/**
 * Open loop: so many requests a second, whatever has been answered, as readers come. A request
 * that finds no connection free waits for one, and that is part of its time.
 */
export async function runOpenLoad({
  rate,
  ...options
}: LoadOptions & { readonly rate: number }): Promise<LoadResult> {
  const nextMessage = messagesOf(options)
  const latencies: number[] = []
  const all = Array.from({ length: options.connections }, () => open(options))
  await Promise.all(all.map(({ ask }) => ask(nextMessage()))) // They stand before the clock starts.
  const idle = [...all]
  const waiting: number[] = [] // since when, of each
  const send = async (connection: Connection, since: number): Promise<void> => {
    await connection.ask(nextMessage())
    latencies.push(performance.now() - since)
    const next = waiting.shift()
    if (next === undefined) idle.push(connection)
    else await send(connection, next)
  }
  const sent: Promise<void>[] = []
  const started = performance.now()
  for (let due = 0; due < rate * options.seconds; await sleep(1)) {
    const now = performance.now()
    for (; due < Math.min(rate * options.seconds, ((now - started) / 1000) * rate); due++) {
      const connection = idle.pop()
      if (connection === undefined) waiting.push(now)
      else sent.push(send(connection, now))
    }
  }
  await Promise.all(sent)
  for (const connection of all) connection.close()
  return summary(latencies, started)
}

export function showLoad({ rate, p50, p99, p999 }: LoadResult): string {
  return `${Math.round(rate).toLocaleString('en').padStart(7)}/s  p50 ${p50} ms  p99 ${p99} ms  p99.9 ${p999} ms`
}

/** All connections draw from one list: every request is sent once before any is sent again. */
function messagesOf({ requests }: LoadOptions): () => Buffer {
  const messages = requests.map(toMessage)
  let next = 0
  return () => messages[next++ % messages.length] as Buffer
}

interface Connection {
  /** Resolves when the wanted answer is there; rejects with any other. */
  readonly ask: (message: Buffer) => Promise<void>
  readonly close: () => void
}

function open({ port, status }: LoadOptions): Connection {
  const wanted = `HTTP/1.1 ${status} `
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const answers = readAnswers(socket)
  return {
    async ask(message) {
      socket.write(message)
      const head = await answers()
      if (!head.startsWith(wanted)) throw new Error(`answered "${head.slice(0, 300)}"`)
    },
    close: () => socket.destroy(),
  }
}

function summary(latencies: number[], started: number): LoadResult {
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
