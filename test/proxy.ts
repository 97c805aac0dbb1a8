/**
 * A TCP proxy whose far end can be taken away: how tests make a server refuse, hang or come back.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/**
 * - `pass`: connections go through
 * - `refuse`: they are cut, also those that stand
 * - `hang`: they stand, and nothing moves any more, as when a cable is pulled
 */
export type ProxyMode = 'pass' | 'refuse' | 'hang'

export interface TcpProxy {
  readonly port: number
  setMode(mode: ProxyMode): void
  /** Hangs as soon as a client says this; resolves when one has. */
  hangAt(text: string): Promise<void>
  close(): Promise<void>
}

/** Listens on a free port of this machine; starts in the mode given. */
export async function openProxy(target: NetConnectOpts, start: ProxyMode): Promise<TcpProxy> {
  let mode = start
  let trap: { readonly text: string; readonly spring: () => void } | null = null
  const pairs = new Set<{ near: Socket; far: Socket | null }>()

  const server = createServer((near) => {
    const pair: { near: Socket; far: Socket | null } = { near, far: null }
    pairs.add(pair)
    near.on('error', () => undefined)
    near.on('close', () => {
      pair.far?.destroy()
      pairs.delete(pair)
    })
    if (mode === 'refuse') near.destroy()
    if (mode !== 'pass') return
    const far = connect(target)
    pair.far = far
    far.on('error', () => near.destroy())
    far.on('close', () => near.destroy())
    near.on('data', (bytes) => {
      if (trap !== null && bytes.includes(trap.text)) trap.spring()
    })
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const setMode = (next: ProxyMode): void => {
    mode = next
    for (const { near, far } of pairs) {
      if (next === 'refuse') near.destroy()
      if (next !== 'hang') continue
      near.unpipe()
      far?.unpipe()
      near.pause()
      far?.pause()
    }
    // A connection that hung stays dead: its bytes are gone as far as its ends know.
    if (next === 'pass') for (const { near } of pairs) near.destroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    setMode,
    hangAt(text) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const spring = (): void => {
        trap = null
        setMode('hang')
        resolve()
      }
      trap = { text, spring }
      return promise
    },
    async close() {
      for (const { near } of pairs) near.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
