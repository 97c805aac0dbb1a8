/** A TCP proxy with which tests make a server refuse, hang or return. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/**
 * - `pass`: connections go through
 * - `refuse`: new and existing connections are cut
 * - `hang`: connections stay open without any data, as with a pulled cable
 */
export type ProxyMode = 'pass' | 'refuse' | 'hang'

export interface TcpProxy {
  readonly port: number
  setMode(mode: ProxyMode): void
  /** Hangs as soon as a client sends this text; resolves then. */
  hangAt(text: string): Promise<void>
  close(): Promise<void>
}

/** Listens on a free local port, in the given mode. */
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
    // A connection that hung stays dead, because its bytes are lost.
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
