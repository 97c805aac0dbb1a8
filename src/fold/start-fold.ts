/** Starts the fold's thread, handles its messages, and restarts it if it ends unexpectedly. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Connection } from '../platform/postgres/postgres.ts'
import type { FoldMessage, FoldWork } from './fold-thread.ts'

const THREAD = new URL('./fold-thread.ts', import.meta.url)
/** A pause after a crash, in case its cause is temporary. */
const RETRY_MS = 1_000
/** A transaction that takes longer is cancelled and folded again later: a stop has ten seconds. */
const CLOSE_MS = 3_000

export interface FoldOptions {
  readonly connection: Connection
  /** Events of a lane were folded and committed; `atMs` is when the last one was accepted. */
  readonly onFolded: (lane: number, count: number, atMs: number) => void
  readonly onError: (error: unknown) => void
}

/** Folds every lane without another owner, until closed. */
export function startFold(options: FoldOptions): { close(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  let thread = startThread(options)

  const running = (async () => {
    while (!signal.aborted) {
      await ended(thread, options.onError)
      if (signal.aborted) return
      options.onError(new Error('the thread of the fold ended by itself: starting it again'))
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) thread = startThread(options)
    }
  })()
  return {
    close: async () => {
      stopping.abort()
      thread.postMessage('close')
      const cut = setTimeout(() => void thread.terminate(), CLOSE_MS)
      await running
      clearTimeout(cut)
    },
  }
}

function startThread({ connection, onFolded, onError }: FoldOptions): Worker {
  const workerData: FoldWork = { connection }
  // Without this process's flags: a test runner's flags mean nothing to the thread.
  const thread = new Worker(THREAD, { workerData, execArgv: [] })
  // Under `node --watch` Node also reports the thread's files by this event.
  thread.on('message', (message: FoldMessage | { readonly kind?: never }) => {
    if (message.kind === 'folded') onFolded(message.lane, message.count, message.atMs)
    else if (message.kind === 'failed') onError(message.error)
  })
  return thread
}

/** Resolves when the thread has ended, for any reason. */
async function ended(thread: Worker, onError: (error: unknown) => void): Promise<void> {
  thread.on('error', onError)
  await once(thread, 'exit').catch(() => undefined)
}
