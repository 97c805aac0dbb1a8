/** Times are UTC everywhere (decisions, Paths), whatever zone the machine is set to. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from './api.ts'

// Before standard time this zone was 4 hours, 56 minutes and 2 seconds behind; offsets in text have
// no seconds.
process.env.TZ = 'America/New_York'
const api = await startApi({ after })
const { key } = await api.account()

test('a time is kept to the second on a machine of any time zone', async () => {
  // The first of them is what some languages have for "no date".
  for (const date of ['0001-01-01T00:00:00Z', '1880-01-01T00:00:00Z', '2026-03-08T07:30:00Z']) {
    const body = {
      article_name: 'A',
      article_url: `https://daily.example/${date}`,
      article_publication_date: date,
    }
    const answer = await api.call('/api/v1/smart_links/', { key, body })
    assert.equal(answer.status, 201, answer.text)
    const { article } = answer.entry<{ article: { publication_date: string } }>()
    assert.equal(article.publication_date, date)
  }
})
