/** A check that an editor asks for by the API, against the real service with its worker. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey } from '../src/accounts/create-account.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { startNetwork } from './testing/network.ts'

const network = await startNetwork({ after }, { env: { ALLOW_PRIVATE_FETCH: 'on' } })
const { web, app, uid, pubId } = network
const db = app.node.database
const kettles = (at: number): string => `${web.host('kettles')}/p/${at}`
const { key } = await createApiKey(db, {
  ...{ uid, description: 'test', expiresAt: null, now: new Date() },
})
const authorization = { authorization: `SERVICE-API-KEY ${key}` }
const path = `/api/v1/publishers/${pubId}/tag_checks/`

interface Check {
  readonly check_id: number
  readonly state: string
  readonly error: string | null
  readonly screenshot_url: string | null
  readonly result: {
    readonly tag: string
    readonly findings: readonly { readonly level: string; readonly text: string }[]
    readonly links: readonly { readonly url: string; readonly earns: string | null }[]
  } | null
}

const entry = async (response: Response) => ((await response.json()) as { data: [Check] }).data[0]

test('a worker checks the page at once, and counts no visit', async () => {
  const before = await db.row(sql`select count(*) from event`)
  web.publish(
    '/checked',
    `<!doctype html><title>An article</title><a href="${kettles(1)}">one</a>
    <a href="${web.host('quiet')}/p/1">nobody bids</a>
    <script async src="{service}/tag/souk.js" data-publisher="daily"></script>`,
  )
  const url = `${web.host('daily')}/checked`
  let check = await entry(await app.post(path, { url }, { headers: authorization }))
  while (check.state === 'waiting' || check.state === 'running') {
    await sleep(100)
    check = await entry(await app.get(`${path}${check.check_id}/`, { headers: authorization }))
  }
  assert.equal(check.error, null)
  assert.equal(check.result?.tag, 'on_page')
  assert.deepEqual(
    check.result?.links.map(({ url, earns }) => [url, earns]),
    [
      [kettles(1), '0.0075'],
      [`${web.host('quiet')}/p/1`, null],
    ],
  )
  assert.deepEqual(
    check.result?.findings.map(({ level, text }) => `${level}: ${text}`),
    [
      'good: The tag is on the page.',
      'note: No consent tool answered: the consent default of your settings applies.',
      'good: Links that earn now: 1 of 2.',
      'note: Nobody bid for 1 link: readers go to the original page.',
    ],
  )
  const picture = await app.get(check.screenshot_url ?? '', { headers: authorization })
  assert.equal(picture.headers.get('content-type'), 'image/jpeg')
  assert.deepEqual([...new Uint8Array(await picture.arrayBuffer()).slice(0, 2)], [0xff, 0xd8])
  await app.untilFolded()
  assert.deepEqual(await db.row(sql`select count(*) from event`), before)
})
