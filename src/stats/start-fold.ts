/** Starts the fold's thread, hears what it says, and starts it again should it end by itself. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Connection } from '../platform/postgres.ts'
import type { FoldNews, FoldWork } from './fold-thread.ts'

const THREAD = new URL('./fold-thread.ts', import.meta.url)
/** After a thread that broke: what broke it may need a moment to pass. */
const RETRY_MS = 1_000
/** A transaction that waits longer is cut, and folded again by the next: a stop has ten seconds. */
const CLOSE_MS = 3_000

export interface FoldOptions {
  readonly connection: Connection
  /** Events of a lane are folded, and committed; `atMs`: when the last of them was accepted. */
  readonly onFolded: (lane: number, count: number, atMs: number) => void
  readonly onError: (error: unknown) => void
}

/** Folds every lane that no other process holds, until closed. */
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
  // Without the flags of this process: a test runner's mean nothing to the thread.
  const thread = new Worker(THREAD, { workerData, execArgv: [] })
  // Under `node --watch` Node tells by the same way which files the thread loads.
  thread.on('message', (news: FoldNews | { readonly kind?: never }) => {
    if (news.kind === 'folded') onFolded(news.lane, news.count, news.atMs)
    else if (news.kind === 'failed') onError(news.error)
  })
  return thread
}

/** Resolves when the thread is gone, whatever ended it. */
async function ended(thread: Worker, onError: (error: unknown) => void): Promise<void> {
  thread.on('error', onError)
  await once(thread, 'exit').catch(() => undefined)
}
