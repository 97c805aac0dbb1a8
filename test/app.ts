/** Starts everything in this process on a database of its own: what contract tests talk to. */
import { after } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type App, startApp } from '../src/app.ts'
import { buildBrowserParts } from '../src/browser-parts.ts'
import { type Config, readConfig } from '../src/config.ts'
import { type Node, openNode } from '../src/node.ts'
import type { Http } from '../src/platform/http.ts'
import { makeLogger } from '../src/platform/log.ts'
import type { Connection } from '../src/platform/postgres.ts'
import { databaseUrl, type Scope, testDatabase } from './database.ts'
import { lanesBehind } from './fold-log.ts'
import { freePort } from './free-port.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A browser's; the service records what sends none as a robot. */
export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0 Safari/537.36'

/** A second, mostly; a busy machine's. */
const FOLDED_MS = 60_000

const PATIENCE_TIMES = 20

export interface TestApp {
  readonly url: string
  readonly config: Config
  readonly node: Node
  readonly http: Http
  /** fetch() of a path, as a browser, without following redirects. */
  readonly get: (path: string, init?: RequestInit) => Promise<Response>
  readonly post: (path: string, body: unknown, init?: RequestInit) => Promise<Response>
  /** Resolves when everything in the log is folded. */
  readonly settled: () => Promise<void>
}

export interface TestAppOptions {
  readonly env?: Record<string, string>
  readonly now?: () => number
  /** Takes the log's lines, at the level of LOG_LEVEL, instead of standard error. */
  readonly logLines?: string[]
  /** Where the service finds its database, when that is not the database itself: a proxy. */
  readonly reach?: (connection: Connection) => Promise<Connection>
}

export async function startTestApp(
  scope: Scope = { after },
  options: TestAppOptions = {},
): Promise<TestApp> {
  const { reach = async (connection: Connection) => connection } = options
  await buildBrowserParts({ isOnlyIfStale: true })
  // Ends in the opposite order, and at once where the start fails: the database goes last.
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
    settled: () => untilFolded(node),
  }
}

/**
 * A reader's click is not recorded where its link is not found within a quarter of a second, and a
 * busy machine's database may take longer. Who tests outages, by `reach`, has what readers have.
 */
function waitLonger({ edge }: Node): void {
  const find = edge.findLink.bind(edge)
  edge.findLink = (auctionId, patienceMs) => find(auctionId, PATIENCE_TIMES * patienceMs)
}

/** A test asks nothing more by the connections it keeps, for which a stop waits half a second. */
async function closeSoon(app: App): Promise<void> {
  app.http.server.closeIdleConnections()
  await nextTurn()
  await app.close()
}

/** Waits until every lane stands at its last event, and none is still on its way from the spool. */
async function untilFolded({ database, appender }: Node): Promise<void> {
  const deadline = Date.now() + FOLDED_MS
  for (;;) {
    // A busy machine answers late, and the spool has taken what its caller was told is durable.
    const isSpoolEmpty = appender.isSpoolEmpty()
    if ((await lanesBehind(database)).length === 0 && isSpoolEmpty) return
    if (Date.now() > deadline) throw new Error('the fold did not catch up within a minute')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
