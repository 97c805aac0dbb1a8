/** Report columns that only a reader's click can fill. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startApi } from '../support/api.ts'
import { follow, makeMarket, SLUG } from '../support/market.ts'

const api = await startApi({ after })
await makeMarket(api)

test('an article counts as given by the publisher if the wrapper names it, not if it is the page', async () => {
  const target = 'https://kettles.example/p/given'
  const page = 'https://daily.example/given'
  const isGiven = async () => {
    const rows = await api.db.rows<{ is_article_given: boolean }>(sql`
      select is_article_given from smart_link join article using (article_id)
      where smart_link.url = ${target} and article.url = ${page}`)
    return rows.map(({ is_article_given }) => is_article_given)
  }
  const bare = `/link/?url=${encodeURIComponent(target)}&publisher_slug=${SLUG}`
  await follow(api, bare, { referer: page })
  assert.deepEqual(await isGiven(), [false])
  await follow(api, `${bare}&article_url=${encodeURIComponent(page)}`, { referer: page })
  assert.deepEqual(await isGiven(), [true])
  await follow(api, bare, { referer: page })
  assert.deepEqual(await isGiven(), [true], 'once given, it stays so')
})
