import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { KETTLE, makeMarket, runAuction, untilReceipt } from '../../test/support/market.ts'
import { micros } from '../platform/money/money.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
const { key, pubId } = market.account
await market.campaign(market.kettles, { bid_micros: micros(600_000), devices: ['mobile'] })
const link = await market.link(KETTLE)
const path = `/api/v1/publishers/${pubId}/smart_links/${link}`

async function hold(): Promise<void> {
  await untilReceipt(api, await runAuction(api, link))
}

test('a link’s auctions say who won at which price, or why nobody won', async () => {
  await hold()
  await market.campaign(market.pans, { bid_micros: micros(400_000) })
  await hold()
  interface Entry {
    readonly won: boolean
    readonly merch_id: number | null
    readonly price: string | null
    readonly reason: { readonly word: string } | null
  }
  const read = async (query = '') =>
    (await api.call(`${path}/auctions/${query}`, { key })).json<{
      readonly data: readonly Entry[]
      readonly next_cursor: string | null
    }>()
  const { data } = await read()
  const [newest, oldest] = data
  assert.deepEqual(
    [newest?.won, newest?.merch_id, newest?.reason, data.length],
    [true, market.pans, null, 2],
  )
  assert.ok(Number(newest?.price) > 0)
  assert.deepEqual([oldest?.won, oldest?.price, oldest?.reason?.word], [false, null, 'device'])

  const first = await read('?limit=1')
  const rest = await read(`?limit=1&cursor=${first.next_cursor}`)
  assert.deepEqual([...first.data, ...rest.data], data)
  assert.equal(
    (await api.call(`${path}/auctions/?cursor=x`, { key })).failure().fields[0],
    'cursor',
  )

  const { auctions, unfilled, reasons } = (await api.call(`${path}/explanation/`, { key })).entry<{
    readonly auctions: number
    readonly unfilled: number
    readonly reasons: readonly { readonly word: string }[]
  }>()
  assert.deepEqual([auctions, unfilled, reasons[0]?.word], [2, 1, 'device'])
})

test('nobody else can read the auctions of a link', async () => {
  const other = await api.account({})
  assert.equal((await api.call(`${path}/auctions/`, { key: other.key })).status, 403)
  const theirs = path.replace(`publishers/${pubId}`, `publishers/${other.pubId}`)
  assert.equal((await api.call(`${theirs}/auctions/`, { key: other.key })).status, 404)
  assert.equal((await api.call(`${theirs}/explanation/`, { key: other.key })).status, 404)
})
