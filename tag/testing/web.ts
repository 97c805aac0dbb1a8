/**
 * The rest of the web, for the specs: a magazine's articles, shops and trackers, each on a separate
 * host below `localhost`, all on one port. Nothing of ours: the service is the real one.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const FIXTURES = join(import.meta.dirname, '../fixtures')

export interface Web {
  readonly port: number
  /** `http://<name>.localhost:<port>` */
  host(name: string): string
  /** Serves this text at this path of every host, with these headers. */
  publish(path: string, html: string, headers?: Record<string, string>): void
  /** What `{name}` in a fixture or a published page stands for. */
  readonly words: Map<string, string>
  /** Requests to the trackers' host, in the order they came. */
  readonly trackers: { readonly from: string; readonly path: string }[]
  close(): Promise<void>
}

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

export async function startWeb(port = 0): Promise<Web> {
  const pages = new Map<string, { html: string; headers: Record<string, string> }>()
  const words = new Map<string, string>()
  const trackers: { from: string; path: string }[] = []
  const fill = (text: string): string =>
    text.replace(/\{([a-z]+(?: \d+)?)\}/g, (whole, word: string) => words.get(word) ?? whole)

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://x')
    const host = request.headers.host ?? ''
    if (host.startsWith('trackers.')) {
      trackers.push({ from: request.headers.referer ?? '', path: pathname + search })
      response.writeHead(200, { 'content-type': 'image/gif' }).end(GIF)
      return
    }
    const page = pages.get(pathname) ?? readFixture(pathname)
    if (page === null) {
      const title = host.startsWith('daily.') ? 'Nothing here' : `A shop: ${pathname}`
      response.writeHead(pathname === '/favicon.ico' ? 204 : 200, { 'content-type': 'text/html' })
      response.end(`<!doctype html><title>${title}</title><h1>${title}</h1>`)
      return
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...page.headers })
    response.end(fill(page.html))
  }
  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  return {
    port: address.port,
    host: (name) => `http://${name}.localhost:${address.port}`,
    publish: (path, html, headers = {}) => void pages.set(path, { html, headers }),
    words,
    trackers,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function readFixture(path: string): { html: string; headers: Record<string, string> } | null {
  if (!/^\/[a-z-]+\.html$/.test(path)) return null
  try {
    return { html: readFileSync(join(FIXTURES, path), 'utf8'), headers: {} }
  } catch {
    return null // No such fixture: a page like any other.
  }
}
