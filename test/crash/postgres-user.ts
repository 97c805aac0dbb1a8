/**
 * A process that uses a folder's embedded PostgreSQL until a signal stops it.
 *
 * node test/crash/postgres-user.ts '{"dataDir":"…"}'
 *
 * Prints one JSON line once it is a user, leaves cleanly on SIGTERM, and exits at once on SIGUSR2.
 */
import { openEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { makeLogger } from '../../src/platform/process/log.ts'

const options = JSON.parse(process.argv[2] ?? '{}')
const postgres = await openEmbeddedPostgres({ ...options, log: makeLogger({ level: 'warn' }) })
const isAsked = setInterval(() => undefined, 60_000) // Keeps the process alive.
process.once('SIGTERM', async () => {
  await postgres.close()
  clearInterval(isAsked)
})
process.once('SIGUSR2', () => process.exit(0))
process.stdout.write(`${JSON.stringify(postgres.connection)}\n`)
