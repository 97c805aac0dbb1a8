/** `souk check-page` on pages with and without the tag, against the real service. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type CheckPageResult, checkPage, photographTo } from '../src/check-page/check-page.ts'
import { renderCheckPage } from '../src/check-page/render.ts'
import type { ApiError } from '../src/platform/errors/api-errors.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { CHROMIUM, needProgram } from '../test/support/programs.ts'
import { souk, soukExit } from '../test/support/souk.ts'
import { ownTemporaryFolder, temporaryFolder } from '../test/support/temporary-folder.ts'
import { openPage } from './testing/browser.ts'
import { startNetwork } from './testing/network.ts'

const network = await startNetwork({ after })
const { web, service, app } = network
const kettles = (at: number): string => `${web.host('kettles')}/p/${at}`
const [first = ''] = await network.smartLinks(`${web.host('daily')}/a`, [kettles(1)])
web.words.set('smart 1', first)
const ARTICLE = `<!doctype html><title>An article</title><main>
<a href="{service}/{smart 1}">a smart link</a>
<a href="${kettles(2)}">a raw link</a>
<a href="${web.host('quiet')}/p/1">nobody bids</a>
<a href="${kettles(3)}#donotlink">not this</a>
</main>`
const TAG = `<script async src="{service}/tag/souk.js" data-publisher="daily"></script>`

let pages = 0
function publish(html: string, headers: Record<string, string> = {}): string {
  const path = `/checked-${++pages}`
  web.publish(path, html, headers)
  return web.host('daily') + path
}

const check = (url: string, more: Partial<Parameters<typeof checkPage>[0]> = {}) =>
  checkPage({
    url,
    baseUrl: service,
    chromium: needProgram(CHROMIUM),
    earningsOf: () => '0.0075',
    publisher: null,
    ...more,
  })

async function eventCount(): Promise<number> {
  await app.untilFolded()
  const row = await app.node.database.row<{ count: string }>(sql`select count(*) from event`)
  return Number(row?.count)
}

test('describes a page with the tag link by link, without counting a visit', async () => {
  const before = await eventCount()
  const trackers = web.trackers.length
  const url = publish(ARTICLE + TAG)
  const result = await check(url)
  assert.equal(result.tag, 'on_page')
  assert.equal(result.publisher, 'daily')
  assert.equal(result.is_member, true)
  assert.deepEqual(result.blocked, [])
  assert.deepEqual(result.totals, { links: 4, auctioned: 3, waiting: 0, left: 1 })
  const [smart, raw, quiet, left] = result.links
  assert.equal(smart?.auction_id, first)
  assert.equal(smart?.destination, kettles(1))
  assert.equal(smart?.merchant, 'The kettles shop')
  assert.equal(smart?.price, '49.99')
  assert.equal(smart?.earns, '0.0075')
  assert.equal(raw?.is_raw, true)
  assert.equal(raw?.has_winner, true)
  assert.equal(quiet?.has_winner, false)
  assert.match(quiet?.why ?? '', /Nobody bid/)
  assert.equal(left?.status, 'left')
  assert.match(left?.why ?? '', /#donotlink/)
  assert.equal(result.trackers, 3, 'each once, though two auctions name it')
  assert.equal(web.trackers.length, trackers, 'none was fired')
  assert.equal(await eventCount(), before, 'nothing was recorded')
  const text = renderCheckPage(result)
  assert.match(text, /4 links: 3 auctioned, 0 waiting, 1 left alone; 3 third-party trackers/)
  assert.match(text, /\+ a smart link {2}\$0\.0075 a click/)
})

test('records nothing that a page sends while its check ends', async () => {
  const before = await eventCount()
  // Only the second visit obeys the policy: the first waits for the page to be quiet.
  const reporting = `<script>
    document.addEventListener('securitypolicyviolation', () => setInterval(() => {
      fetch('{service}/api/v1/events/impressions/page_impression/', {
        method: 'POST', keepalive: true, body: JSON.stringify({
          organization_type: 'publisher', organization_id: ${network.pubId}, events: [{}],
          user: { page_session_uuid: crypto.randomUUID(), source_url: location.href },
        }),
      }).catch(() => undefined)
    }, 20))
  </script><iframe src="/nothing"></iframe>`
  await check(publish(reporting + ARTICLE + TAG, { 'content-security-policy': "frame-src 'none'" }))
  assert.equal(await eventCount(), before)
})

test('a check leaves nothing in the temporary folder', async (t) => {
  const folder = await ownTemporaryFolder(t)
  await assert.rejects(check('http://127.0.0.1:1/'), /must load/)
  assert.deepEqual(await readdir(folder), [])
})

test('describes a page that keeps replacing its `souk` like any other', async () => {
  const replacing = `<script>
    setInterval(() => { window.souk = { consent: 'full' } })
  </script>`
  const result = await check(publish(replacing + ARTICLE + TAG))
  assert.deepEqual(result.blocked, [])
  assert.deepEqual([result.consent, result.consent_source], ['full', 'page'])
  assert.deepEqual(result.totals, { links: 4, auctioned: 3, waiting: 0, left: 1 })
})

test('describes a page whose `souk` is frozen or a text like any other', async () => {
  for (const souk of ['Object.freeze({ consent: "full" })', '"daily"']) {
    const result = await check(publish(`<script>souk = ${souk}</script>${ARTICLE}${TAG}`))
    assert.deepEqual(result.blocked, [], souk)
    assert.deepEqual(result.totals, { links: 4, auctioned: 3, waiting: 0, left: 1 }, souk)
  }
})

test('finds a page’s service by the name of its tag, whatever query the URL has', async () => {
  const result = await check(publish(ARTICLE + TAG.replace('souk.js', '$&?v=2026/11/28')))
  assert.equal(result.service, service)
  assert.deepEqual(result.blocked, [])
})

test('shows a page without the tag as it would be with it, for the given publisher', async (t) => {
  const folder = await temporaryFolder(t, 'souk-check-')
  const screenshot = join(folder, 'page.png')
  const url = publish(ARTICLE)
  await assert.rejects(check(url), /--publisher|required|400|must be given/i)
  const result = await check(url, { publisher: 'weekly', photograph: photographTo(screenshot) })
  assert.equal(result.tag, 'inserted')
  assert.equal(result.is_member, false)
  assert.deepEqual(result.totals, { links: 4, auctioned: 1, waiting: 0, left: 3 })
  assert.match(result.links[1]?.why ?? '', /not in the partner program/)
  const png = await readFile(screenshot)
  assert.equal(png.subarray(1, 4).toString(), 'PNG')
  assert.equal((await stat(screenshot)).mode & 0o777, 0o600)
})

test('a checked page can read nothing of other hosts that its readers could not', async () => {
  web.publish('/kept', '{"secret":"of the network"}', { 'content-type': 'application/json' })
  const kept = `http://127.0.0.1:${web.port}/kept`
  const curious = ['/api/v1/auction/?a=1', '?x=/api/v1/auction/?'].map(
    (end) => `<script>fetch('${kept}${end}').then((answer) => answer.text()).then(
      (text) => { throw new Error('read ' + text) }, () => { throw new Error('read nothing') })
    </script>`,
  )
  web.publish('/kept/api/v1/auction/', '{"secret":"too"}', { 'content-type': 'application/json' })
  const result = await check(publish(curious.join('') + ARTICLE + TAG))
  assert.deepEqual(result.page_errors, ['Error: read nothing', 'Error: read nothing'])
  assert.deepEqual(result.totals, { links: 4, auctioned: 3, waiting: 0, left: 1 })
})

test('reports a smart link that does not exist as such, not as a slow auction', async (t) => {
  const { page, quiet } = await openPage(t)
  await page.goto(`${publish(`<a href="${service}/9007199254740993">x</a>${TAG}`)}#souk-debug`)
  await quiet()
  await page.getByText('has not answered yet, or the link does not exist').waitFor()
})

test('names what blocks the tag, with the line that fixes it', async () => {
  const policy = "default-src 'none'; script-src 'self'; connect-src 'self'"
  const url = publish(ARTICLE + TAG, { 'content-security-policy': policy })
  const result = await check(url)
  const origin = new URL(service).origin
  for (const directive of ['script-src', 'connect-src', 'img-src']) {
    const line = result.blocked.find((text) => text.includes(`forbids ${directive} ${origin}`))
    assert.ok(line, `${directive}: ${result.blocked}`)
  }
  assert.equal(result.totals.auctioned, 3, 'and still what it would do')
})

test('reports refused consent, other link tags and an unknown publisher', async () => {
  const refused = `<script>window.__tcfapi = (command, version, listener) => listener({
    gdprApplies: true, eventStatus: 'tcloaded', purpose: { consents: {} } }, true)</script>`
  const other = '<script async src="https://s.skimresources.com/js/1.skimlinks.js"></script>'
  const result = await check(publish(refused + other + ARTICLE + TAG))
  assert.equal(result.consent, 'contextual')
  assert.equal(result.consent_source, 'tcf')
  assert.deepEqual(result.other_tags, ['Skimlinks'])
  assert.ok(result.blocked.some((line) => line.startsWith('Consent is not given (tcf)')))
  const unknown = await check(publish(ARTICLE), { publisher: 'nobody' })
  assert.ok(
    unknown.blocked.some((line) => /is the slug right/.test(line)),
    `${unknown.blocked}`,
  )
  assert.equal(unknown.totals.links, 0)
})

test('reports a tag that names another publisher than expected', async () => {
  const result = await check(publish(ARTICLE + TAG), { publisher: 'weekly' })
  assert.equal(result.publisher, 'daily')
  const message = 'The tag on the page earns for publisher daily, not for weekly: '
  assert.deepEqual(result.blocked, [`${message}write data-publisher="weekly" into it.`])
  const same = await check(publish(ARTICLE + TAG), { publisher: 'Daily' })
  assert.deepEqual(same.blocked, [])
})

test('souk check-page says what a click earns, and finds the publisher by its domain', async (t) => {
  const folder = await temporaryFolder(t, 'souk-check-')
  const { dataDir, databaseUrl, port } = app.config
  const env = { SOUK_DATA: dataDir, DATABASE_URL: databaseUrl ?? '', PORT: String(port) }
  const picture = join(folder, 'page.png')
  const args = ['check-page', publish(ARTICLE), '--out', picture]
  const result = await souk<CheckPageResult>(env, ...args)
  assert.equal(result.publisher, 'daily')
  // One bidder pays the reserve of a cent; three quarters go to the publisher.
  assert.deepEqual(
    result.links.map(({ earns }) => earns),
    ['0.0075', '0.0075', null, null],
  )
  assert.equal(result.screenshot, picture)
  const { stdout } = await soukExit(env, 0, ...args)
  assert.match(stdout, /4 links: 3 auctioned/)
})

test('reports a page that does not load', async () => {
  await assert.rejects(check('http://127.0.0.1:1/'), (error: { data?: unknown }) =>
    JSON.stringify(error.data).includes('must load'),
  )
})

test('suggests a wrong URL, not a missing tag, when a page answers with an error', async () => {
  await assert.rejects(check(`${service}/9007199254740993`), (error: ApiError) => {
    const rule = 'is answered with 404: is the URL right?'
    assert.deepEqual(error.data, [{ field: 'url', rule }])
    return true
  })
})

test('reports a missing page, whatever its body contains', async () => {
  const { blocked } = await check(`${service}/9007199254740993`, { publisher: 'daily' })
  assert.equal(blocked[0], 'The page is answered with 404: is the URL right?')
})
