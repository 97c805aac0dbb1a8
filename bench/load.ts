/**
 * Load generators.
 *
 * Raw sockets, read into buffers of their own, without a promise or a text for an answer, because
 * the generator shares two cores with what it measures: a client library costs more per request
 * than a bare server does.
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

/**
 * Closed loop: each connection sends its next request when the last was answered. Ends when each
 * was sent, if the time is not over before, unless they may be sent again.
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
 * Open loop: so many requests a second, whatever has been answered, as readers come. A request
 * that finds no connection free waits for one, and that is part of its time.
 */
export async function runOpenLoad({
  rate,
  ...options
}: LoadOptions & { readonly rate: number }): Promise<LoadResult> {
  const nextMessage = messagesOf(options)
  const wanted = Math.ceil(rate * options.seconds)
  const latencies: number[] = []
  const idle: ((since: number) => void)[] = [] // sends on a free connection what is due since then
  const waiting: number[] = [] // since when, of each
  const ended = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  const closers = Array.from({ length: options.connections }, () => {
    let askedSince: number | null = null // null: it was only asked so that it stands
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
  ended.promise.catch(() => undefined) // an error before it is waited for is the one of `ready`
  await ready.promise // All stand before the clock starts.
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

/** All connections draw from one list: every request is sent once before any is sent again. */
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
  /** The wanted answer to what was sent last is there, its body as well. */
  readonly onAnswer: () => void
  readonly onError: (error: Error) => void
}

/** What one read may bring. */
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

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = Buffer.from('ontent-length: ') // with either letter before it

/** Takes what is read. Answers never share a read: each connection has one request under way. */
function answerReader(status: number, { onAnswer, onError }: ConnectionEvents) {
  const wanted = `HTTP/1.1 ${status} `
  let early = Buffer.alloc(0) // of an answer whose head is not there yet
  let missing = 0 // of its body
  return (buffer: Buffer, bytes: number): void => {
    const chunk = buffer.subarray(0, bytes)
    if (missing > 0) missing -= bytes
    else {
      const text = early.length === 0 ? chunk : Buffer.concat([early, chunk])
      const end = text.indexOf(HEAD_END)
      if (end < 0) {
        early = Buffer.from(text) // The next read writes over the buffer.
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
