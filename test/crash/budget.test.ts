/** A campaign's cap across a kill -9, as its merchant sees it: commands, clicks, the figures. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS, utcDay } from '../../src/platform/time/timestamp.ts'
import { BROWSER } from '../support/app.ts'
import { type Environment, serve, souk } from '../support/souk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const BID = 0.5
const BUDGET = 3.2 // Six clicks, and a rest too small for another.
const FEED = 'id,title,link,price,availability\n1,Mug,https://mugs.example/1,10.00 USD,in stock\n'

test('clicks are funded from the first moment, and a cap holds across kill -9 and restarts', async (t) => {
  const dataDir = await temporaryFolder(t, 'souk-budget-')
  const env = { SOUK_DATA: dataDir, PORT: '0', LOG_LEVEL: 'error' }
  const key = await makeNetwork(env, dataDir)

  let server = await serve(env)
  t.after(() => server.stop())
  const link = await makeLink(server.url, key)
  assert.equal(new URL(link).port, new URL(server.url).port, 'PORT=0: links name the port picked')
  const { pathname } = new URL(link)

  assert.equal(await isPaid(server.url + pathname), true, 'the very first click is funded')
  const clicks = Array.from({ length: 20 }, () => isPaid(server.url + pathname).catch(() => false))
  await Promise.race(clicks)
  await server.kill()
  await Promise.all(clicks)

  server = await serve(env)
  for (let n = 0; n < 20; n++) await isPaid(server.url + pathname)
  const paid = await spent(env)
  assert.ok(paid >= BID && paid <= BUDGET, `${paid} of ${BUDGET} were charged`)
  assert.equal(await server.stop(), 0)
})

async function makeNetwork(env: Environment, dataDir: string): Promise<string> {
  const user = ['--user', 'pat@press.example']
  await souk(env, 'user', 'create', '--email', 'pat@press.example', '--password', 'longenough1')
  await souk(
    ...[env, 'publisher', 'create', '--name', 'Press', '--slug', 'press', ...user],
    ...['--share', '1', '--domain', 'press.example'],
  )
  await souk(env, 'merchant', 'create', '--name', 'Mugs', '--domain', 'mugs.example')
  const feed = join(dataDir, 'feed.csv')
  await writeFile(feed, FEED)
  await souk(env, 'feed', 'import', '--merchant', '1', '--file', feed)
  await souk(
    ...[env, 'campaign', 'create', '--merchant', '1', '--model', 'cpc', '--bid', String(BID)],
    ...['--budget', String(BUDGET)],
  )
  const made = await souk<{ key: string }>(env, 'key', 'create', ...user, '--description', 'k')
  return made.key
}

/** An exclusive link, so that each paid click costs the bid. */
async function makeLink(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/smart_links/`, {
    method: 'POST',
    headers: { authorization: `SERVICE-API-KEY ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      url: 'https://mugs.example/1',
      article_name: 'Mugs',
      article_url: 'https://press.example/mugs',
      exclusive_match_requested: true,
    }),
  })
  const { data } = (await response.json()) as { data: [{ smart_link_url: string }] }
  return data[0].smart_link_url
}

/** Whether a click on the link reached the merchant with a click id, which only a winner gets. */
async function isPaid(link: string): Promise<boolean> {
  const response = await fetch(link, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
  assert.equal(response.status, 302)
  return new URL(response.headers.get('location') ?? '').searchParams.has('cid')
}

/** Dollars charged so far; the publisher's share is all of it. */
async function spent(env: Environment): Promise<number> {
  await sleep(5_000) // Figures appear within 5 s of an event.
  const day = (offset: number) => utcDay(Date.now() + offset * DAY_MS)
  const rows = await souk<{ pub_earnings: string }[]>(
    ...[env, 'stats', '--publisher', 'press', '--from', day(-1), '--to', day(1)],
  )
  return rows.reduce((sum, row) => sum + Number(row.pub_earnings), 0)
}
