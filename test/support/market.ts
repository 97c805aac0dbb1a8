/** A small market in a running service: two merchants that sell one product, one publisher. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PublisherSettings } from '../../src/accounts/publisher.ts'
import type { CampaignSettings } from '../../src/campaigns/campaign.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../../src/platform/time/timestamp.ts'
import { type Account, type Answer, type Api, AUCTION_URL } from './api.ts'
import { BROWSER } from './app.ts'
import { makeCampaign, makeMerchant } from './catalogue.ts'

const GTIN = '9521000000018'
export const KETTLE = 'https://kettles.example/p/1'
export const SLUG = 'daily'

export interface Market {
  readonly account: Account
  readonly kettles: number
  readonly pans: number
  /** A new smart link in its own article; returns its auction id. */
  link(url?: string | null, options?: { isExclusive?: boolean; article?: string }): Promise<string>
  campaign(merchId: number, settings?: Partial<CampaignSettings>): Promise<number>
}

/** `kettles` sells the kettle for $50, `pans` for $49; nobody bids yet. */
export async function makeMarket(
  api: Api,
  publisher: Partial<PublisherSettings> = {},
): Promise<Market> {
  const { db } = api
  const account = await api.account({
    slug: SLUG,
    domains: ['daily.example'],
    share_ppm: 750_000,
    is_partner: true,
    epsilon_ppm: 0,
    ...publisher,
  })
  const sell = (name: string, domain: string, price: string) =>
    makeMerchant(db, {
      name,
      domain,
      offers: [
        {
          id: '1',
          title: 'The Kettle',
          link: `https://${domain}/p/1`,
          price,
          gtin: GTIN,
          image: `https://${domain}/1.jpg`,
        },
      ],
    })
  const { merchId: kettles } = await sell('Kettles', 'kettles.example', '50.00 USD')
  const { merchId: pans } = await sell('Pans', 'pans.example', '49.00 USD')
  await until(() => api.app.node.edge.market.merchants.get(pans)?.feed_imported_at != null)
  return {
    account,
    kettles,
    pans,
    link: async (url = KETTLE, { isExclusive = false, article = 'kettles' } = {}) => {
      const answer = await api.call('/api/v1/smart_links/', {
        key: account.key,
        body: {
          ...(url === null ? {} : { url }),
          article_name: article,
          article_url: `https://daily.example/${article}`,
          exclusive_match_requested: isExclusive,
          pub_id: account.pubId,
        },
      })
      assert.equal(answer.status, 201, answer.text)
      return answer.entry<{ auction_id: string }>().auction_id
    },
    campaign: async (merchId, settings = {}) => {
      const { campaign_id: id } = await makeCampaign(db, merchId, settings)
      await until(() => api.app.node.edge.market.campaigns.has(id))
      return id
    },
  }
}

/** Far longer than anything here takes, also on a busy machine. */
const NEVER_MS = 60_000

/** Waits for something that reaches an edge by notification. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + NEVER_MS
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`it did not come true within ${NEVER_MS} ms`)
    await sleep(10)
  }
}

export interface AuctionEntry {
  readonly auction_result: {
    readonly id: string
    readonly auction_id: string
    readonly redirect_url: string
    readonly product?: Record<string, unknown> & { readonly merchant: Record<string, unknown> }
    readonly tracker_urls?: { impression: string[]; viewable_impression: string[] }
  }
  readonly impression_pixel_url: string
}

export const browser = { 'user-agent': BROWSER }

/** Runs the auction of a link in a page session, with any further query and headers. */
export async function runAuction(
  api: Api,
  auctionId: string,
  options: { uuid?: string; query?: string; headers?: Record<string, string> } = {},
): Promise<AuctionEntry> {
  const uuid = options.uuid ?? crypto.randomUUID()
  const answer = await api.call(
    `/api/v1/auction/?a=${auctionId}&t=1&uuid=${uuid}${options.query ?? ''}`,
    { headers: { ...browser, ...options.headers } },
  )
  assert.equal(answer.status, 200, answer.text)
  return answer.entry<AuctionEntry>()
}

/** Waits for the receipt of this result, which is written in the background. */
export async function untilReceipt({ db }: Api, { auction_result }: AuctionEntry): Promise<void> {
  const number = Buffer.from(auction_result.id, 'base64url').subarray(2, 18)
  const receipt = sql`select from receipt where result_number = ${number}`
  await until(async () => (await db.row(receipt)) !== null)
}

/** Calls a URL of the service without following its redirect. */
export async function follow(
  api: Api,
  address: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; location: string; cookie: string | null; text: string }> {
  const path = address.replace(AUCTION_URL, '')
  const response = await fetch(api.url + path, {
    redirect: 'manual',
    headers: { ...browser, ...headers },
  })
  return {
    status: response.status,
    location: response.headers.get('location') ?? '',
    cookie: response.headers.get('set-cookie'),
    text: await response.text(),
  }
}

/** Today's statistics of the market's publisher, once everything is folded. */
export async function statsOf(api: Api, { account }: Market): Promise<Record<string, unknown>[]> {
  await api.app.untilFolded()
  const day = (offset: number) => utcDay(api.app.node.now() + offset * DAY_MS)
  const answer: Answer = await api.call(
    `/api/v1/publishers/${account.pubId}/stats_by_article_merchant_daily/?date_from=${day(-2)}&date_to=${day(2)}`,
    { key: account.key },
  )
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ stats: Record<string, unknown>[] }>().stats
}
