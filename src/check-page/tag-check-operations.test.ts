import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherOf, pathTo, serveOperations } from '../../test/support/management.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { TagCheckResult } from './tag-check.ts'
import { tagCheckOperations } from './tag-check-operations.ts'
import { screenshotRoute } from './tag-check-routes.ts'
import {
  deleteOldTagChecks,
  failInterrupted,
  finishTagCheck,
  takeTagCheck,
} from './tag-check-store.ts'

const db = await testDatabase({ after })
const api = await serveOperations(db, tagCheckOperations, ({ keys }) => [
  screenshotRoute({ db, keys }),
])

async function makeOwner() {
  const { at, owner } = await makePublisherOf(db)
  await db.run(sql`update publisher set domains = '{daily.example}' where pub_id = ${at.id}`)
  const path = `${pathTo(at)}tag_checks/`
  const { key } = owner
  return {
    path,
    ask: (url: string) => api.call('POST', path, { key, body: { url } }),
    read: (end = '') => api.call('GET', path + end, { key }),
    ageChecks: (interval: string) =>
      db.run(sql`
        update tag_check set datetime_created = now() - ${interval}::interval
        where pub_id = ${at.id}`),
  }
}

const RESULT: TagCheckResult = {
  tag: 'on_page',
  ...{ findings: [], publisher: 'daily', consent: null, consent_source: null },
  ...{ links: [], total_links: 0, page_errors: [] },
}

async function runNext(screenshot: Buffer | null = null): Promise<void> {
  const check = await takeTagCheck(db)
  if (check !== null) await finishTagCheck(db, check, { result: RESULT, screenshot })
}

test('checks only pages on a domain of the publisher, whatever its subdomain', async () => {
  const { ask } = await makeOwner()
  for (const url of [
    'https://other.example/',
    'https://daily.example.evil.example/',
    'https://daily.example@evil.example/',
    'ftp://daily.example/',
  ]) {
    assert.deepEqual((await ask(url)).fields, ['url'], url)
  }
  assert.equal((await ask('https://www.daily.example/article')).status, 202)
  await runNext()
  assert.equal((await ask('https://blog.daily.example/')).status, 202)
  await runNext()
})

test('a publisher has one check at a time, and fifty in 24 hours', async () => {
  const { ask, ageChecks } = await makeOwner()
  const url = 'https://daily.example/'
  assert.equal((await ask(url)).status, 202)
  assert.deepEqual((await ask(url)).refusal, [409, 4091])
  await runNext()
  for (let at = 1; at < 50; at += 1) {
    assert.equal((await ask(url)).status, 202)
    await runNext()
  }
  assert.deepEqual((await ask(url)).refusal, [429, 4290])
  await ageChecks('25 hours')
  assert.equal((await ask(url)).status, 202)
  await runNext()
})

test('the ten latest screenshots are stored, and checks for seven days', async () => {
  const { path, ask, read, ageChecks } = await makeOwner()
  const other = await makeOwner()
  for (let at = 0; at < 11; at += 1) {
    await ask(`https://daily.example/${at}`)
    await runNext(Buffer.from(`picture ${at}`))
  }
  const { data } = await read()
  assert.equal(data.length, 11)
  assert.deepEqual(
    data.map(({ url, screenshot_url: shown }) => [url, shown !== null]),
    Array.from({ length: 11 }, (_, at) => [`https://daily.example/${10 - at}`, at < 10]),
  )
  const [{ check_id: newest }] = data
  const picture = await read(`${newest}/screenshot/`)
  assert.deepEqual([picture.status, picture.text], [200, 'picture 10'])
  assert.equal((await read(`${data[10].check_id}/screenshot/`)).status, 404)
  assert.equal((await read(`${newest}/`)).data[0].result.publisher, 'daily')
  // Of another publisher, by its own path.
  assert.equal((await other.read(`${newest}/`)).status, 404)
  assert.equal((await other.read(`${newest}/screenshot/`)).status, 404)
  assert.notEqual(other.path, path)
  await ageChecks('8 days')
  await deleteOldTagChecks(db)
  assert.deepEqual((await read()).data, [])
})

test('a check whose worker stopped has failed, and says so', async () => {
  const { ask, read } = await makeOwner()
  await ask('https://daily.example/')
  assert.equal((await takeTagCheck(db))?.url, 'https://daily.example/')
  await failInterrupted(db, 'The service stopped during the check. Try again.')
  const [check] = (await read()).data
  assert.equal(check.state, 'failed')
  assert.match(check.error, /stopped/)
})
