import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { NOON_MS, resultNumber } from '../../test/support/auction-world.ts'
import { LeaseBook } from '../budgets/lease.ts'
import { PacingBook } from '../budgets/pacing-book.ts'
import { CONSENT } from '../events/consent.ts'
import { DEVICE } from '../events/user-agent.ts'
import { ClickEstimates } from '../prediction/click-estimates.ts'
import { Decider } from './decide.ts'
import type { LinkData } from './link-store.ts'
import { indexMarket } from './market.ts'

const LINKS = 20_000
/** A small machine's heap, in which twenty thousand candidate sets would not fit. */
const HEAP_MB = 64

if (isMainThread) {
  test('the candidate sets of all links in use leave room in a small heap', async () => {
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB }
    const [links] = await once(new Worker(new URL(import.meta.url), { resourceLimits }), 'message')
    assert.equal(links, LINKS)
  })
} else parentPort?.postMessage(decideAll())

/** Between two market snapshots, as while the database is down. */
function decideAll(): number {
  const decider = new Decider(
    {
      ...{ book: new LeaseBook(), estimates: new ClickEstimates(), pacing: new PacingBook() },
      ...{ pricing: 'second_price', now: () => NOON_MS },
    },
    indexMarket({ version: 1, publishers: [], merchants: [], campaigns: [], disabledLinks: [] }),
  )
  const facts = { consent: CONSENT.full, device: DEVICE.desktop, country: null }
  const context = { ...facts, nowMs: NOON_MS, isAtClick: false }
  const held = Array.from({ length: LINKS }, (_, at) => link(String(at)))
  for (const data of held) {
    decider.decide(data, { context, resultNumber: resultNumber(1), unfunded: [] })
  }
  return held.length
}

function link(auction_id: string): LinkData {
  return {
    link: {
      ...{ auction_id, pub_id: 1, url: null, article_url: 'https://daily.example/a' },
      ...{ is_exclusive: false, is_keyless: false, unwraps: true },
    },
    ...{ page: null, original: null, offers: [] },
  }
}
