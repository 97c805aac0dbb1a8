/**
 * Load generators.
 *
 * They use raw sockets with reused buffers and no promise or string per response. They share two
 * cores with the measured server, and a client library costs more per request than a bare server
 * does.
 */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
}

export interface LoadResult {
  readonly answers: number
  readonly rate: number // responses per second
  readonly p50: number // milliseconds
  readonly p95: number
  readonly p99: number
  readonly p999: number
}

export interface LoadOptions {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly status: number | null // any other status fails the run; null: none does
  readonly requests: readonly LoadRequest[]
}

/**
 * Closed loop: each connection sends its next request after the previous response. Ends when the
 * time is over or every request was sent, unless requests may be repeated.
 */
export function runLoad({
  isRepeating = false,
  ...options
}: LoadOptions & { readonly isRepeating?: boolean }): Promise<LoadResult> {
  const nextMessage = messagesOf(options)
  const latencies: number[] = []
  const { promise, resolve, reject } = Promise.withResolvers<LoadResult>()
  const started = performance.now()
  const until = started + options.seconds * 1000
  let opened = 0
  let left = isRepeating ? Number.POSITIVE_INFINITY : options.requests.length
  const start = (): void => {
    opened += 1
    left -= 1
    let sentAt = performance.now()
    const connection = open(options, {
      onAnswer() {
        const now = performance.now()
        latencies.push(now - sentAt)
        sentAt = now
        if (now < until && left > 0) {
          left -= 1
          return connection.send(nextMessage())
        }
        connection.close()
        opened -= 1
        if (opened === 0) resolve(summary(latencies, started))
      },
      onError: reject,
    })
    connection.send(nextMessage())
  }
  for (let count = 0; count < options.connections; count++) start()
  return promise
}

/**
 * Open loop: sends at a constant rate, whatever has been answered, as readers arrive. A request
 * without a free connection waits for one, and the wait is part of its time.
 */
export async function runOpenLoad({
  rate,
  ...options
}: LoadOptions & { readonly rate: number }): Promise<LoadResult> {
  const nextMessage = messagesOf(options)
  const wanted = Math.ceil(rate * options.seconds)
  const latencies: number[] = []
  const idle: ((since: number) => void)[] = [] // sends due requests on a free connection
  const waiting: number[] = [] // when each waiting request was due
  const ended = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  const closers = Array.from({ length: options.connections }, () => {
    let askedSince: number | null = null // null for the request that only opens the connection
    const send = (since: number | null): void => {
      askedSince = since
      connection.send(nextMessage())
    }
    const connection = open(options, {
      onAnswer() {
        if (askedSince !== null) latencies.push(performance.now() - askedSince)
        const next = waiting.shift()
        if (next === undefined) idle.push(send)
        else send(next)
        if (idle.length === options.connections) ready.resolve()
        if (latencies.length === wanted) ended.resolve()
      },
      onError(error) {
        ready.reject(error)
        ended.reject(error)
      },
    })
    send(null)
    return connection.close
  })
  ended.promise.catch(() => undefined) // an error before this is awaited also rejects `ready`
  await ready.promise // All connections are open before the clock starts.
  const started = performance.now()
  for (let due = 0; due < wanted; await sleep(1)) {
    const now = performance.now()
    for (; due < Math.min(wanted, ((now - started) / 1000) * rate); due++) {
      const send = idle.pop()
      if (send === undefined) waiting.push(now)
      else send(now)
    }
  }
  await ended.promise
  for (const close of closers) close()
  return summary(latencies, started)
}

export function showLoad({ rate, p50, p99, p999 }: LoadResult): string {
  return `${Math.round(rate).toLocaleString('en').padStart(7)}/s  p50 ${p50} ms  p99 ${p99} ms  p99.9 ${p999} ms`
}

/** All connections share one list, which sends every request once before any repetition. */
function messagesOf({ requests }: LoadOptions): () => Buffer {
  const messages = requests.map(toMessage)
  let next = 0
  return () => messages[next++ % messages.length] as Buffer
}

interface Connection {
  readonly send: (message: Buffer) => void
  readonly close: () => void
}

interface ConnectionEvents {
  /** Called when the expected response to the last request has arrived, with its body. */
  readonly onAnswer: () => void
  readonly onError: (error: Error) => void
}

/** The maximum of one read. */
const READ_BYTES = 16_384

function open({ port, status }: LoadOptions, events: ConnectionEvents): Connection {
  const read = answerReader(status, events)
  const onread = {
    buffer: Buffer.allocUnsafe(READ_BYTES),
    callback(bytes: number, buffer: Uint8Array): boolean {
      read(buffer as Buffer, bytes)
      return true
    },
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
  let isClosed = false
  socket.on('error', events.onError)
  socket.on('close', () => {
    if (!isClosed) events.onError(new Error('the server closed the connection'))
  })
  return {
    send: (message) => void socket.write(message),
    close() {
      isClosed = true
      socket.destroy()
    },
  }
}

function summary(latencies: number[], started: number): LoadResult {
  const elapsed = (performance.now() - started) / 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number) =>
    Math.round((latencies[Math.floor(latencies.length * share)] ?? 0) * 100) / 100
  const answers = latencies.length
  return {
    answers,
    rate: answers / elapsed,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
  }
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

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = Buffer.from('ontent-length: ') // Matches both spellings of the first letter.

/** Parses responses. Each connection has one request in flight, so responses never share a read. */
function answerReader(status: number | null, { onAnswer, onError }: ConnectionEvents) {
  const wanted = status === null ? 'HTTP/1.1 ' : `HTTP/1.1 ${status} `
  let early = Buffer.alloc(0) // the start of a response whose header is incomplete
  let missing = 0 // missing bytes of the body
  return (buffer: Buffer, bytes: number): void => {
    const chunk = buffer.subarray(0, bytes)
    if (missing > 0) missing -= bytes
    else {
      const text = early.length === 0 ? chunk : Buffer.concat([early, chunk])
      const end = text.indexOf(HEAD_END)
      if (end < 0) {
        early = Buffer.from(text) // Copied, because the next read overwrites the buffer.
        return
      }
      if (text.toString('latin1', 0, wanted.length) !== wanted) {
        onError(new Error(`answered "${text.toString('latin1', 0, 300)}"`))
        return
      }
      early = Buffer.alloc(0)
      missing = end + HEAD_END.length + bodyLength(text, end) - text.length
    }
    if (missing === 0) onAnswer()
  }
}

function bodyLength(text: Buffer, end: number): number {
  const at = text.indexOf(LENGTH)
  return at < 0 || at > end
    ? 0
    : Number.parseInt(text.toString('latin1', at + LENGTH.length, end), 10)
}
