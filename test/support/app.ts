/** Starts the whole service in this process on its own database, for contract tests. */
import { after } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Config, readConfig } from '../../src/node/config.ts'
import { type Node, openNode } from '../../src/node/node.ts'
import type { Http } from '../../src/platform/http/http-server.ts'
import type { Connection } from '../../src/platform/postgres/postgres.ts'
import { makeLogger } from '../../src/platform/process/log.ts'
import { type App, startApp } from '../../src/server/app.ts'
import { buildBrowserParts } from '../../src/server/browser-parts.ts'
import { databaseUrl, type Scope, testDatabase } from './database.ts'
import { lanesBehind } from './fold-log.ts'
import { freePort } from './free-port.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A browser's user agent; the service treats requests without one as robots. */
export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0 Safari/537.36'

/** Usually a second; this is for a busy machine. */
const FOLDED_MS = 60_000

const TIMEOUT_FACTOR = 20

export interface TestApp {
  readonly url: string
  readonly config: Config
  readonly node: Node
  readonly http: Http
  /** fetch() of a path, as a browser, without following redirects. */
  readonly get: (path: string, init?: RequestInit) => Promise<Response>
  readonly post: (path: string, body: unknown, init?: RequestInit) => Promise<Response>
  /** Resolves when everything in the log is folded. */
  readonly untilFolded: () => Promise<void>
}

export interface TestAppOptions {
  readonly env?: Record<string, string>
  readonly now?: () => number
  /** Receives log lines, at the level of LOG_LEVEL, instead of standard error. */
  readonly logLines?: string[]
  /** False leaves out the pages: openapi.json, from which they are built, is written without. */
  readonly hasPages?: boolean
  /** Replaces the address of the database, for example by a proxy's. */
  readonly reach?: (connection: Connection) => Promise<Connection>
}

export async function startTestApp(
  scope: Scope = { after },
  options: TestAppOptions = {},
): Promise<TestApp> {
  const { reach = async (connection: Connection) => connection } = options
  if (options.hasPages !== false) await buildBrowserParts({ isOnlyIfStale: true })
  // Closes in reverse order, also if the start fails: the database last.
  await using started = new AsyncDisposableStack()
  const scopeOfStart: Scope = { after: (work) => started.defer(work) }
  const database = await testDatabase(scopeOfStart)
  const dataDir = await temporaryFolder(scopeOfStart, 'souk-app-')
  const port = await freePort()
  const config = readConfig({
    PORT: String(port),
    SOUK_DATA: dataDir,
    DATABASE_URL: databaseUrl(await reach(database.connection)),
    RATE_LIMITS: '0',
    LOG_LEVEL: 'error',
    ...options.env,
  })
  const { logLines } = options
  const stream = logLines && { write: (line: string) => void logLines.push(line) }
  const log = makeLogger({ level: config.logLevel, ...(stream && { stream }) })
  const node = await openNode(config, { log, ...(options.now ? { now: options.now } : {}) })
  started.defer(() => node.close())
  if (options.reach === undefined) waitLonger(node)
  const app = await startApp(node)
  started.defer(() => closeSoon(app))
  const running = started.move()
  scope.after(() => running.disposeAsync())
  const url = `http://127.0.0.1:${port}`
  const get = (path: string, init: RequestInit = {}) =>
    fetch(path.startsWith('http') ? path.replace('//localhost:', '//127.0.0.1:') : url + path, {
      redirect: 'manual',
      ...init,
      headers: { 'user-agent': BROWSER, ...(init.headers as Record<string, string>) },
    })
  return {
    url,
    config,
    node,
    http: app.http,
    get,
    post: (path, body, init = {}) =>
      get(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
        headers: {
          'content-type': 'application/json',
          ...(init.headers as Record<string, string>),
        },
      }),
    untilFolded: () => untilFolded(node),
  }
}

/**
 * A click is not recorded if its link is not found within a quarter of a second, and a busy
 * machine's database may take longer. Tests of outages (`reach`) keep readers' timeouts.
 */
function waitLonger({ edge }: Node): void {
  const find = edge.findLink.bind(edge)
  edge.findLink = (auctionId, timeoutMs) => find(auctionId, TIMEOUT_FACTOR * timeoutMs)
}

/** A test no longer uses its open connections, for which a stop would wait half a second. */
async function closeSoon(app: App): Promise<void> {
  app.http.server.closeIdleConnections()
  await nextTurn()
  await app.close()
}

/** Waits until every lane is folded to its end and the spool is empty. */
async function untilFolded({ database, appender }: Node): Promise<void> {
  const deadline = Date.now() + FOLDED_MS
  for (;;) {
    // Also the spool, because on a busy machine events may have gone there.
    const isSpoolEmpty = appender.isSpoolEmpty()
    if ((await lanesBehind(database)).length === 0 && isSpoolEmpty) return
    if (Date.now() > deadline) throw new Error('the fold did not catch up within a minute')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
