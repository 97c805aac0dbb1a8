import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { sql } from '../platform/postgres/sql.ts'

test('concurrent calls for a new article share one answer', async (t) => {
  const api = await startApi(t)
  const { pubId } = await api.account({ is_partner: true })
  await api.db.run(sql`create table written_hour (links integer)`)
  await api.db.run(sql`
    create function note_hour() returns trigger language plpgsql as $$
      begin insert into written_hour values (new.links); return null; end $$`)
  // Every call that finds a link missing reads the hourly count and adds to it.
  await api.db.run(sql`
    create trigger written_hour after insert or update on keyless_link_hour
    for each row execute function note_hour()`)
  const article = { name: 'Ten mugs', url: 'https://daily.example/mugs' }
  const body = { article, links: [{ raw_url: 'https://shop.example/mug' }] }
  const path = `/api/v1/publishers/${pubId}/linkmate/smart_links/`
  const answers = await Promise.all(Array.from({ length: 30 }, () => api.call(path, { body })))
  const made = answers.map((answer) => answer.entry<{ smart_links: object[] }>().smart_links)
  assert.equal(made[0]?.length, 1)
  for (const links of made) assert.deepEqual(links, made[0])
  assert.deepEqual(await api.db.rows(sql`select links from written_hour order by 1`), [
    { links: 0 },
    { links: 1 },
  ])
})

test('concurrent calls share no answer across publishers, bodies or keys', async (t) => {
  const api = await startApi(t)
  const [ann, bob] = [
    await api.account({ is_partner: true }),
    await api.account({ is_partner: true }),
  ]
  const ask = async (pubId: number, product: string, key?: string) => {
    const article = { name: 'Ten mugs', url: 'https://daily.example/mugs' }
    const body = { article, links: [{ raw_url: `https://shop.example/${product}` }] }
    const path = `/api/v1/publishers/${pubId}/linkmate/smart_links/`
    const answer = await api.call(path, { body, ...(key !== undefined && { key }) })
    if (answer.status !== 200) return String(answer.status)
    const { smart_links: links } = answer.entry<{ smart_links: { auction_id: string }[] }>()
    return links[0]?.auction_id
  }
  const calls = Array.from({ length: 10 }, () =>
    Promise.all([
      ask(ann.pubId, 'mug'),
      ask(bob.pubId, 'mug'),
      ask(ann.pubId, 'cup'),
      ask(ann.pubId, 'mug', bob.key),
    ]),
  )
  const answers = await Promise.all(calls)
  for (const answer of answers) {
    assert.deepEqual(answer, answers[0])
    assert.equal(new Set(answer).size, 4)
    assert.equal(answer[3], '403', 'a key is asked whose publisher it is')
  }
})

test('an article stores only the part of the reader’s URL that identifies the page', async (t) => {
  const api = await startApi(t)
  const { pubId } = await api.account({ is_partner: true })
  const page = 'https://daily.example/?p=12'
  for (const more of ['&mc_eid=5f3a#comments', '&email=jane%40mail.example', '']) {
    const links = [{ raw_url: 'https://shop.example/mug' }]
    const body = { article: { name: '', url: page + more }, links }
    const answer = await api.call(`/api/v1/publishers/${pubId}/linkmate/smart_links/`, { body })
    assert.equal(answer.status, 200)
  }
  const rows = await api.db.rows(sql`select url, name from article`)
  assert.deepEqual(rows, [{ url: page, name: page }])
})

test('a click wrapper and the URL inside it are two links, in either order', async (t) => {
  const api = await startApi(t)
  const { pubId } = await api.account({ is_partner: true })
  const inside = encodeURIComponent('https://shop.example/mug')
  const links = [
    { raw_url: `https://go.skimresources.com/?url=${inside}` },
    { raw_url: 'https://shop.example/mug' },
  ]
  const ask = async (unwrap_links: boolean) => {
    const article = { name: 'Ten mugs', url: 'https://daily.example/mugs' }
    const path = `/api/v1/publishers/${pubId}/linkmate/smart_links/`
    const answer = await api.call(path, { body: { article, links, unwrap_links } })
    const { smart_links: made } = answer.entry<{ smart_links: { auction_id: string }[] }>()
    return made.map(({ auction_id }) => auction_id)
  }
  const [looked, plain] = await ask(true)
  const [unlooked, ...rest] = await ask(false)
  assert.deepEqual(rest, [plain], 'nothing to look into')
  assert.deepEqual(
    [await ask(true), await ask(false)],
    [
      [looked, plain],
      [unlooked, plain],
    ],
  )
  const rows = await api.db.rows(sql`select auction_id, unwraps from smart_link order by 1`)
  assert.deepEqual(rows, [
    { auction_id: looked, unwraps: true },
    { auction_id: plain, unwraps: true },
    { auction_id: unlooked, unwraps: false },
  ])
})
