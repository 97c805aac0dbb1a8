/** Visits to the fixtures, each on a separate host, which distinguishes its events from others. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { encodeBase62 } from '../../src/platform/ids.ts'
import type { Scope } from '../../test/support/database.ts'
import { openPage, type WatchedPage } from './browser.ts'
import { type Network, startNetwork } from './network.ts'

type Test = Parameters<typeof openPage>[0]

export interface Visit extends WatchedPage {
  readonly url: string
  /** The queries of the auctions that the page ran. */
  readonly auctions: readonly URLSearchParams[]
}

export interface Visits {
  readonly network: Network
  /** Auction ids of the smart links 1, 2 and 3 that the fixtures name. */
  readonly ids: readonly [string, string, string]
  /** Opens a fixture; resolves when the page has come to rest. */
  visit(t: Test, fixture: string, prepare?: (page: Page) => Promise<void>): Promise<Visit>
  /** The redirect address of an anchor. */
  redirectOf(page: Page, id: string): Promise<URL>
}

export async function startVisits(scope: Scope): Promise<Visits> {
  const network = await startNetwork(scope)
  const ids = await fillWords(network)
  let visits = 0
  return {
    network,
    ids,
    async visit(t, fixture, prepare) {
      const url = `${network.web.host(`visit${++visits}.daily`)}/${fixture}`
      const watched = await openPage(t)
      await prepare?.(watched.page)
      await watched.page.goto(url)
      await watched.quiet()
      return {
        ...watched,
        url,
        get auctions() {
          const calls = watched.requests.filter((call) => call.includes('/api/v1/auction/'))
          return calls.map((call) => new URL(call).searchParams)
        },
      }
    },
    async redirectOf(page, id) {
      const url = new URL((await attribute(page, id, 'href')) ?? '')
      assert.equal(url.origin + url.pathname, `${network.service}/api/v1/redirect/`, id)
      return url
    },
  }
}

export function attribute(page: Page, id: string, name: string): Promise<string | null> {
  return page.locator(`#${id}`).getAttribute(name)
}

/** What the fixtures' placeholders stand for. */
export async function fillWords({ web, merchId, smartLinks }: Network): Promise<Visits['ids']> {
  const goods = [1, 2, 3].map((at) => `${web.host('kettles')}/p/${at}`)
  const ids = await smartLinks(`${web.host('daily')}/smart-links.html`, goods)
  for (const [at, id] of ids.entries()) {
    web.words.set(`smart ${at + 1}`, id)
    web.words.set(`short ${at + 1}`, encodeBase62(id))
  }
  web.words.set('shopid', String(merchId))
  return [ids[0] ?? '', ids[1] ?? '', ids[2] ?? '']
}
