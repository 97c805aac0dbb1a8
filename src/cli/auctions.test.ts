import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AUCTION_URL, startApi } from '../../test/support/api.ts'
import { BROWSER } from '../../test/support/app.ts'
import { makeCampaign, makeMerchant } from '../../test/support/catalogue.ts'
import { follow } from '../../test/support/market.ts'
import { readResultNumber } from '../auction/seal.ts'
import { identifier, sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { CLICK_AGE_MIN_MS } from '../redirect/click.ts'
import { explainCommand, replayCommand } from './auctions.ts'
import { readAuctionResult } from './option.ts'

const api = await startApi({ after })
const context = {
  config: api.app.config,
  database: async () => api.db,
  storage: () => Promise.reject(new Error('not in this test')),
  now: () => new Date(),
  progress: () => undefined,
}
const { key } = await api.account()
const shop = await makeMerchant(api.db, {
  name: 'Shop',
  domain: 'shop.example',
  offers: [{ id: '1', link: 'https://shop.example/1' }],
})
await api.untilKnown(await makeCampaign(api.db, shop.merchId))

/** The id and URL of an auction result that the shop won, unless the link is elsewhere. */
async function auction(url = 'https://shop.example/1') {
  const created = await api.call('/api/v1/smart_links/', {
    key,
    body: {
      article_name: 'A',
      article_url: `https://daily.example/${randomUUID()}`,
      url,
    },
  })
  const { auction_id } = created.entry<{ auction_id: string }>()
  const answer = await api.call(`/api/v1/auction/?a=${auction_id}&uuid=${randomUUID()}`, {
    headers: { 'user-agent': BROWSER },
  })
  return answer.entry<{ auction_result: { id: string; redirect_url: string } }>().auction_result
}

/** The argument as `souk explain --auction-result` reads it. */
const explain = (text: string) =>
  explainCommand(context, { auctionResult: readAuctionResult(text) })

test('an auction is explained by its id and by its number, with the same answer', async () => {
  const { id } = await auction()
  const explained = await explain(id)
  const number = readResultNumber(id)?.toString('hex') ?? ''
  assert.deepEqual(await explain(number), explained)
  assert.ok('candidates' in explained, 'it has its receipt')
  assert.equal(explained.auction_result_number, number)
  assert.deepEqual(explained.replay, { kind: 'equal' })
  assert.equal(explained.outcome.merch_id, shop.merchId)
  assert.equal(explained.candidates.length, 1)
  assert.deepEqual(explained.clicks, [])
})

test("a click that does not match its auction's outcome is a difference", async () => {
  const { id, redirect_url } = await auction()
  const resultNumber = readResultNumber(id)
  await sleep(CLICK_AGE_MIN_MS + 20)
  await follow(api, redirect_url)
  await api.app.untilFolded()
  const replayed = async () =>
    (await replayCommand(context, { date: utcDay(new Date()) })).differences
  assert.deepEqual(await replayed(), [])
  const [number, of] = [resultNumber?.toString('hex'), sql`result_number = ${resultNumber}`]
  for (const [column, field] of [
    ['share_ppm', 'sharePpm'],
    ['terms_amount', 'priceMicros'],
    ['campaign_id', 'campaignId'],
    ['merch_id', 'merchId'],
    ['pub_id', 'pubId'],
  ] as const) {
    const name = identifier(column)
    await api.db.run(sql`update click set ${name} = ${name} + 1 where ${of}`)
    const found = (await replayed()) as { field: string; stored: number; clicked: number }[]
    assert.deepEqual(
      found.map(({ field, stored, clicked }) => [field, clicked - stored]),
      [[field, 1]],
    )
    assert.ok(
      found.every((one) => 'auction_result_number' in one && one.auction_result_number === number),
    )
    await api.db.run(sql`update click set ${name} = ${name} - 1 where ${of}`)
  }
})

test("a receipt stored under another auction's number is a difference", async () => {
  const ids = [(await auction()).id, (await auction()).id]
  for (const id of ids) await explain(id) // By then it is stored.
  const numbers = ids.map(readResultNumber)
  const swap = () =>
    api.db.run(sql`
      update receipt set packed = (
        select other.packed from receipt other
        where other.result_number <> receipt.result_number
          and other.result_number = any(${numbers}::bytea[]))
      where result_number = any(${numbers}::bytea[])`)
  await swap()
  const { differences } = await replayCommand(context, { date: utcDay(new Date()) })
  await swap()
  const [first, second] = numbers.map((number) => number?.toString('hex'))
  assert.deepEqual(differences, [
    { auction_result_number: first, field: 'resultNumber', stored: second },
    { auction_result_number: second, field: 'resultNumber', stored: first },
  ])
})

test('a click on a link without a winner is no difference', async () => {
  const { id, redirect_url } = await auction('https://elsewhere.example/1')
  await sleep(CLICK_AGE_MIN_MS + 20)
  await follow(api, redirect_url)
  await api.app.untilFolded()
  const explained = await explain(id)
  assert.ok('outcome' in explained && !explained.outcome.won)
  assert.equal(explained.clicks[0]?.reason, 'ok')
  const replayed = await replayCommand(context, { date: utcDay(new Date()) })
  assert.deepEqual(replayed.differences, [])
})

test('an auction is explained by the id of its click as well', async () => {
  const { id, redirect_url } = await auction()
  const { location } = await follow(api, redirect_url)
  await api.app.untilFolded()
  const clickId = new URL(location).searchParams.get('cid') ?? ''
  const explained = await explain(clickId)
  assert.equal(explained.auction_result_number, readResultNumber(id)?.toString('hex'))
  assert.deepEqual(
    explained.clicks.map(({ click_id }) => click_id),
    [clickId],
  )
  const answer = await api.call(`/api/v1/auction_results/${clickId}/`, { key })
  const answered = answer.entry<typeof explained>()
  assert.deepEqual(answered.clicks, explained.clicks)
  assert.ok('candidates' in explained && 'candidates' in answered)
  const [own, shown] = [explained.candidates[0], answered.candidates[0]]
  assert.deepEqual([own?.bid, own?.value_range], ['0.60', null], 'the operator sees exact bids')
  const range = { from: '0.32', below: '0.64' }
  assert.deepEqual([shown?.bid, shown?.value_range], [null, range], 'the publisher sees ranges')
})

test('stored auctions replay without a difference', async () => {
  await auction()
  const result = await replayCommand(context, { date: utcDay(new Date()) })
  assert.ok(result.auctions >= 1)
  assert.deepEqual(result.differences, [])
  assert.equal(result.other_rules, 0)
  assert.equal((await replayCommand(context, { date: '2026-01-01' })).auctions, 0)
})

test('a click without a receipt is still explained, and says so', async () => {
  const { id, redirect_url } = await auction()
  const isStored = async () => {
    const number = readResultNumber(id)
    const row = await api.db.row(sql`select from receipt where result_number = ${number}`)
    return row !== null
  }
  while (!(await isStored())) await new Promise((resolve) => setTimeout(resolve, 50))
  await api.db.run(sql`delete from receipt where result_number = ${readResultNumber(id)}`)
  // At once, so it is redirected and recorded as too fast for a person.
  await api.app.get(redirect_url.slice(AUCTION_URL.length))
  await api.app.untilFolded()
  const explained = await explain(id)
  assert.ok('note' in explained)
  assert.match(explained.note, /receipt was dropped/)
  assert.equal(explained.clicks.length, 1)
  assert.equal(explained.clicks[0]?.merch_id, shop.merchId)
})
