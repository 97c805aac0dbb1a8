/**
 * Limits of the tags' cost to a reader: bytes over the network, and one task never handles all
 * links of a page. `tag/testing/measure-tasks.ts` measures how long the longest task takes.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { reportSizes, type TagManifest } from '../scripts/build-tag.ts'
import { openPage } from './testing/browser.ts'
import { publishLinks, traceTag } from './testing/longest-task.ts'
import { startNetwork } from './testing/network.ts'

const LINKS = 500
/** So many links at most take far less than the 50 ms after which a phone seems stuck. */
const LINKS_A_TASK_MAX = 10
const network = await startNetwork({ after }, { goods: LINKS })
const TAGS = join(import.meta.dirname, '../dist/tag')
const manifest: TagManifest = JSON.parse(readFileSync(join(TAGS, 'manifest.json'), 'utf8'))

test('the tags keep their size budgets', (t) => {
  const { lines, isWithinBudget } = reportSizes(manifest)
  for (const line of lines) t.diagnostic(line)
  assert.ok(isWithinBudget, lines.join('\n'))
})

test('fails the build and names the tag when a tag is one byte over its budget', () => {
  const entry = { file: 'souk.js', immutable_file: '', bytes: 9, integrity: '' }
  const over = { ...entry, gzip_bytes: 4601, budget_gzip_bytes: 4600 }
  const { lines, isWithinBudget } = reportSizes({ 'souk.js': over })
  assert.equal(isWithinBudget, false)
  assert.match(lines[0] ?? '', /^souk\.js: 4601 bytes gzip \(budget 4600, OVER\)/)
  const full = { ...over, gzip_bytes: 4600 }
  assert.equal(reportSizes({ 'souk.js': full }).isWithinBudget, true)
})

test('a versioned file matches its name, its hash and the manifest', async () => {
  for (const { file, immutable_file, integrity, gzip_bytes } of Object.values(manifest)) {
    const bytes = readFileSync(join(TAGS, file))
    assert.ok(bytes.equals(readFileSync(join(TAGS, immutable_file))), file)
    assert.equal(gzip_bytes, gzipSync(bytes, { level: 9 }).length)
    const digest = await crypto.subtle.digest('SHA-384', bytes)
    assert.equal(integrity, `sha384-${Buffer.from(digest).toString('base64')}`)
    assert.ok(immutable_file.includes(Buffer.from(digest).toString('hex').slice(0, 16)))
  }
})

test('serves a compressed tag to clients that accept it, wherever the encoding is listed', async () => {
  for (const { file, immutable_file, gzip_bytes } of Object.values(manifest)) {
    for (const name of [file, immutable_file]) {
      const packed = await fetchRaw(name, 'gzip, deflate, br')
      assert.equal(packed.headers['content-encoding'], 'gzip')
      assert.equal(packed.headers.vary, 'Accept-Encoding')
      assert.equal(packed.body.length, gzip_bytes)
      for (const accepted of ['identity', 'br, gzip;q=0']) {
        const plain = await fetchRaw(name, accepted)
        assert.equal(plain.headers['content-encoding'], undefined)
        assert.deepEqual(plain.body, gunzipSync(packed.body))
      }
    }
  }
})

// A CDN that ignores `Vary: Origin` would keep the first page's origin, and browsers would refuse
// the README's tag with `integrity` and `crossorigin` on all other pages.
test('serves the same tag to every origin, so that shared caches may store it', async () => {
  for (const { file, immutable_file } of Object.values(manifest)) {
    for (const name of [file, immutable_file]) {
      for (const origin of [undefined, 'https://daily.example', 'https://weekly.example']) {
        const { headers } = await fetchRaw(name, 'gzip', origin)
        assert.equal(headers['access-control-allow-origin'], '*', name)
        assert.doesNotMatch(headers.vary ?? '', /origin/i)
      }
    }
  }
})

/** As sent over the network: `fetch` decompresses. */
async function fetchRaw(name: string, accepted: string, origin?: string) {
  const headers = { 'accept-encoding': accepted, ...(origin !== undefined && { origin }) }
  const asked = get(`${network.service}/tag/${name}`, { headers })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { headers: answer.headers, body: Buffer.concat(await answer.toArray()) }
}

test(`the tag divides ${LINKS} links among many tasks`, async (t) => {
  const page = publishLinks(network, LINKS)
  const opened = await openPage(t)
  const { tasks } = await traceTag(opened, { page, service: network.service, links: LINKS })
  assert.ok(tasks >= LINKS / LINKS_A_TASK_MAX, `${tasks} tasks`)
  assert.deepEqual(opened.errors, [])
})
