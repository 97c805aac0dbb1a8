/** Checks of pages that the service cannot, must not, or can hardly open. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { startServer } from '../../test/support/local-server.ts'
import { makePublisherOf } from '../../test/support/management.ts'
import { CHROMIUM, needProgram } from '../../test/support/programs.ts'
import { sql } from '../platform/postgres/sql.ts'
import { runTagChecks, type TagCheckWork } from './run-tag-checks.ts'
import { findTagCheck, insertTagCheck } from './tag-check-store.ts'

const db = await testDatabase({ after })
const { at } = await makePublisherOf(db)
const pubId = at.id ?? 0
await db.run(sql`
  update publisher set domains = '{daily.localhost,daily.example}' where pub_id = ${pubId}`)

async function check(url: string, more: Partial<TagCheckWork> = {}) {
  const made = await insertTagCheck(db, { pubId, url })
  assert.ok(made)
  const faults = await runTagChecks({
    ...{
      db,
      keys: [{ id: 1, key: randomBytes(32) }],
      brand: 'service',
      baseUrl: 'http://127.0.0.1:1',
    },
    ...{ allowPrivate: true, isSandboxOff: true, chromium: needProgram(CHROMIUM) },
    ...more,
  })
  const ended = await findTagCheck(db, { pubId, checkId: made.check_id })
  assert.ok(ended)
  return { ...ended, faults }
}

test('says that no browser is installed, or that it does not start', async () => {
  const url = 'https://daily.example/'
  assert.match((await check(url, { chromium: null })).error ?? '', /has no Chromium/)
  const { error, faults } = await check(url, { chromium: process.execPath })
  assert.match(error ?? '', /does not start/)
  assert.match(faults.join(), /no browser starts/, 'for the operator')
})

test('opens no page of the operator’s network, and says so', async (t) => {
  let connections = 0
  const { server, port } = await startServer(t, (_request, response) => response.end('secret'))
  server.on('connection', () => connections++)
  await db.run(sql`update publisher set domains = '{daily.localhost,127.0.0.1}'`)
  const { error } = await check(`http://127.0.0.1:${port}/`, { allowPrivate: false })
  assert.equal(error, '127.0.0.1 has no public address, so this service does not open it.')
  assert.equal(connections, 0)
})

test('ends a page that never ends, and one that leads elsewhere or breaks the report', async (t) => {
  const { port } = await startServer(t, ({ url }, response) => {
    response.setHeader('content-type', 'text/html')
    if (url === '/away') response.writeHead(302, { location: ELSEWHERE + port }).end()
    else response.end(url === '/busy' ? '<script>for (;;) {}</script>' : BREAKING)
  })
  const page = (path: string) => `http://daily.localhost:${port}${path}`
  const busy = await check(page('/busy'), { limitMs: 3_000 })
  assert.equal(busy.error, 'The check took longer than 3 seconds.')
  const away = await check(page('/away'))
  assert.equal(away.error, 'The URL leads to other.localhost, not to a domain of yours.')
  const broken = await check(page('/broken'))
  assert.match(broken.error ?? '', /ended without a result/)
})

const ELSEWHERE = 'http://other.localhost:'

/** A page that answers everything it is asked with nonsense. */
const BREAKING = `<script>
Object.defineProperty(window, 'souk', {
  get: () => ({ report: () => ({ links: 5, blocked: [] }), outline() {}, probe: () => [] }),
  set() {},
})
</script>`
