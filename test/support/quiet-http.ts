/** The HTTP server without the service, for tests of single routes. */
import { createHttp, type Http } from '../../src/platform/http/http-server.ts'
import { makeLogger } from '../../src/platform/process/log.ts'
import type { Scope } from './database.ts'

export async function startQuietHttp(
  scope: Scope,
  log = makeLogger({ level: 'silent' }),
): Promise<Http> {
  const http = await createHttp({
    log,
    corsOrigins: [],
    isTrustedProxy: () => false,
    matchHot: () => null,
  })
  scope.after(async () => {
    await http.close()
  })
  return http
}
